import { once } from 'node:events';
import type { IncomingHttpHeaders, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { http } from '../../src/kit/node-http.ts';
import { inTime } from '../support/until.ts';

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
export class Receiver {
  readonly received: Received[] = [];
  /** The largest number of requests that were open at the same time. */
  mostAtOnce = 0;
  readonly #server: Server;
  readonly #held = new Set<ServerResponse>();
  #open = 0;
  #handler: Handler = response => void response.writeHead(204).end();
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
      this.#handler(response, received);
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

  /** Number of requests without a response, on connections that are still open. */
  get open(): number {
    return this.#open;
  }

  /** The subjects and types of the received events, in order. */
  get receivedEvents(): string[] {
    return this.received.map(({ event }) => `${event.subject} ${event.type}`);
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
  has(count: number): Promise<void> {
    return inTime(`${count} requests`, this.#has(count));
  }

  async #has(count: number): Promise<void> {
    while (this.received.length < count) await this.#news.promise;
  }

  /** Closes its connections before the service checks at its shutdown that no socket remains. */
  disconnect(): Promise<void> {
    return disconnect(this.#server);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
    // Node.js releases a closed server some turns of the event loop later.
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
