import type { IncomingMessage, ServerResponse } from 'node:http';
import { LocalEndpoint } from '../support/local-endpoint.ts';

/** One request that an endpoint received. */
export interface Received {
  method: string;
  path: string;
  headers: Record<string, string>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read events of every shape
  event: any;
}

type Handler = (response: ServerResponse, received: Received) => void;

/** An endpoint of webhooks on 127.0.0.1. It responds with 204 until a test sets another handler. */
export class Receiver extends LocalEndpoint {
  readonly received: Received[] = [];
  /** The largest number of requests that were open at the same time. */
  mostAtOnce = 0;
  readonly #held = new Set<ServerResponse>();
  #open = 0;
  #handler: Handler = response => void response.writeHead(204).end();

  get url(): string {
    return `${this.origin}/hook`;
  }

  /** Number of requests without a response, on connections that are still open. */
  get open(): number {
    return this.#open;
  }

  /** The subjects and types of the received events, in order. */
  get receivedEvents(): string[] {
    return this.received.map(({ event }) => `${event.subject} ${event.type}`);
  }

  protected override onOpen(response: ServerResponse): void {
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#open);
    response.once('close', () => this.#open--);
  }

  protected override take(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const text = body.toString();
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const received = {
      method: request.method!,
      path: request.url!,
      headers,
      text,
      event: JSON.parse(text),
    };
    this.received.push(received);
    this.#handler(response, received);
  }

  handleWith(handler: Handler): void {
    this.#handler = handler;
  }

  respondWith(status: number, headers: Record<string, string> = {}, body = ''): void {
    this.#handler = response => void response.writeHead(status, headers).end(body);
  }

  /** Holds every request until `release`. */
  hold(): void {
    this.#handler = response => void this.#held.add(response);
  }

  release(status = 204): void {
    this.respondWith(status);
    for (const response of this.#held) response.writeHead(status).end();
    this.#held.clear();
  }

  /** Closes the connections of the requests on hold, without a response. */
  breakOff(): void {
    for (const response of this.#held) response.destroy();
    this.#held.clear();
  }

  /** Resolves after this many requests. */
  async has(count: number): Promise<void> {
    await this.next(`${count} requests`, () => (this.received.length >= count ? true : undefined));
  }
}
