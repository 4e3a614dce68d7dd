import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { http } from '../../src/kit/node-http.ts';
import { inTime } from './until.ts';

/** A server of a test on 127.0.0.1, which the service sends requests to. It keeps idle connections, as those of `listenLocally`. */
export abstract class LocalEndpoint {
  readonly #server: Server;
  #news = Promise.withResolvers<void>();

  constructor() {
    this.#server = http.createServer({ keepAliveTimeout: 0 }, async (request, response) => {
      this.onOpen(response);
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      this.take(request, response, Buffer.concat(chunks));
      this.#news.resolve();
      this.#news = Promise.withResolvers();
    });
  }

  static async start<Endpoint extends LocalEndpoint>(this: new () => Endpoint): Promise<Endpoint> {
    const endpoint: LocalEndpoint = new this();
    await once(endpoint.#server.listen(0, '127.0.0.1'), 'listening');
    return endpoint as Endpoint;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  protected onOpen(_response: ServerResponse): void {}

  /** Notes a request, and responds. */
  protected abstract take(request: IncomingMessage, response: ServerResponse, body: Buffer): void;

  /** Resolves with the first value other than `undefined` of a function, which it calls again after each request. */
  protected async next<T>(what: string, find: () => T | undefined): Promise<T> {
    const search = async () => {
      for (;;) {
        const found = find();
        if (found !== undefined) return found;
        await this.#news.promise;
      }
    };
    return inTime(what, search());
  }

  /** A test calls this before it stops the service, which checks at its shutdown that no socket remains. */
  close(): Promise<void> {
    return close(this.#server);
  }
}

export async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  // Node.js releases a closed server some turns of the event loop later.
  await sleep(1);
}
