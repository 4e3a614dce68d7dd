import { once } from 'node:events';
import type { IncomingHttpHeaders, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { http } from '../../src/kit/node-http.ts';
import { inTime } from '../support/until.ts';

/** One request that an endpoint got. */
export interface Received {
  method: string;
  path: string;
  headers: Record<string, string>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
  event: any;
}

type Answering = (response: ServerResponse, received: Received) => void;

/** An endpoint of webhooks on this machine, which answers as it is told: with 204 unless it is told otherwise. */
export class Receiver {
  readonly received: Received[] = [];
  /** The most requests that were open at once. */
  mostAtOnce = 0;
  readonly #server: Server;
  readonly #held = new Set<ServerResponse>();
  #open = 0;
  #answering: Answering = response => void response.writeHead(204).end();
  #news = Promise.withResolvers<void>();

  private constructor() {
    this.#server = http.createServer(async (request, response) => {
      this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#open);
      response.once('close', () => this.#open--);
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      const received: Received = {
        method: request.method!,
        path: request.url!,
        headers: plain(request.headers),
        text,
        event: JSON.parse(text),
      };
      this.received.push(received);
      this.#answering(response, received);
      this.#news.resolve();
      this.#news = Promise.withResolvers();
    });
  }

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  /** The requests that it has not answered, on connections that are still open. */
  get open(): number {
    return this.#open;
  }

  /** The subjects and types of what it got, in order. */
  get told(): string[] {
    return this.received.map(({ event }) => `${event.subject} ${event.type}`);
  }

  answer(answering: Answering): void {
    this.#answering = answering;
  }

  respondWith(status: number, headers: Record<string, string> = {}, body = ''): void {
    this.#answering = response => void response.writeHead(status, headers).end(body);
  }

  /** Answers nothing until `release`. */
  hold(): void {
    this.#answering = response => void this.#held.add(response);
  }

  release(status = 204): void {
    this.respondWith(status);
    for (const response of this.#held) response.writeHead(status).end();
    this.#held.clear();
  }

  /** Breaks off what it holds, without an answer. */
  breakOff(): void {
    for (const response of this.#held) response.destroy();
    this.#held.clear();
  }

  /** Resolves when it has got so many requests. */
  has(count: number): Promise<void> {
    return inTime(`${count} requests`, this.#has(count));
  }

  async #has(count: number): Promise<void> {
    while (this.received.length < count) await this.#news.promise;
  }

  /** Ends its connections: before the service looks at its end whether sockets are left. */
  disconnect(): Promise<void> {
    return disconnect(this.#server);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
    // A closed server is let go of some turns of the event loop later.
    await sleep(1);
  }
}

export async function disconnect(server: Server): Promise<void> {
  server.closeAllConnections();
  while ((await promisify(server.getConnections.bind(server))()) > 0) await sleep(1);
}

function plain(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
