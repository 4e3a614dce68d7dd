import assert from 'node:assert/strict';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { http } from '../../src/kit/node-http.ts';
import { assertMatchesContract } from './contract.ts';
import { EventStreamParser } from './event-stream-parser.ts';
import { until } from './until.ts';

export interface CloudEvent {
  specversion: '1.0';
  id: string;
  source: string;
  type: string;
  subject: string;
  time: string;
  datacontenttype: string;
  actor?: string;
  requestid?: string;
  traceparent?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into resources of every shape
  data: any;
}

/** A client of the event stream, on its own connection. */
export class EventReader {
  readonly events: CloudEvent[] = [];
  readonly #parser = new EventStreamParser();
  readonly #request: ClientRequest;
  #response: IncomingMessage | undefined;
  #isOver = false;

  /** Connects, and resolves when the stream has started. */
  static async open(
    origin: string,
    key: string,
    { path = '/events/stream', headers = {} }: { path?: string; headers?: Record<string, string> } = {},
  ): Promise<EventReader> {
    const reader = new EventReader(origin, key, path, headers);
    await reader.until(() => reader.#response !== undefined || reader.#isOver, 'its start');
    if (!reader.#response) throw new Error('The connection was rejected or broke');
    const { statusCode: status, headers: got } = reader.#response!;
    assert.equal(status, 200);
    assertMatchesContract({ method: 'HEAD', path, status: status!, headers: got, text: '' });
    return reader;
  }

  constructor(origin: string, key: string, path: string, headers: Record<string, string>) {
    const options = { agent: false, headers: { 'x-api-key': key, ...headers } };
    this.#request = http.request(`${origin}${path}`, options, response => {
      this.#response = response;
      response.setEncoding('utf8');
      response.on('data', text => this.#take(text));
      response.on('error', () => {});
      response.on('close', () => this.#end());
    });
    this.#request.on('error', () => this.#end());
    this.#request.end();
  }

  get response(): IncomingMessage {
    return this.#response!;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get comments(): readonly string[] {
    return this.#parser.comments;
  }

  get retry(): number | undefined {
    return this.#parser.retry;
  }

  /** The ID after which a new stream continues. */
  get lastEventId(): string {
    return this.#parser.lastEventId;
  }

  get ids(): number[] {
    return this.events.map(({ id }) => Number(id));
  }

  until(isReached: () => boolean, what: string): Promise<void> {
    return until(`an event stream brings ${what}`, isReached);
  }

  untilEvents(count: number): Promise<void> {
    return this.until(() => this.events.length >= count, `${count} events`);
  }

  untilOver(): Promise<void> {
    return this.until(() => this.#isOver, 'its end');
  }

  /** Stops reading until `resume`. */
  pause(): void {
    this.#response!.pause();
  }

  resume(): void {
    this.#response!.resume();
  }

  /** Disconnects. */
  async close(): Promise<void> {
    this.#request.destroy();
    await this.untilOver();
  }

  #take(text: string): void {
    for (const { id, event, data } of this.#parser.take(text)) {
      const parsed: CloudEvent = JSON.parse(data);
      assert.deepEqual([parsed.id, parsed.type], [id, event]);
      this.events.push(parsed);
    }
  }

  #end(): void {
    this.#isOver = true;
  }
}
