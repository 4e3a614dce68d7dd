import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An endpoint for webhooks on this machine. It returns 204 at once and counts the requests. */
export class Endpoint implements AsyncDisposable {
  #count = 0;
  #expected = 0;
  #reached = () => {};
  readonly #server = createServer((request, response) => {
    request.resume();
    response.writeHead(204).end();
    this.#count++;
    if (this.#count === this.#expected) this.#reached();
  });

  static async start(): Promise<Endpoint> {
    const endpoint = new Endpoint();
    // Connections stay open longer than the pauses of a measurement.
    endpoint.#server.keepAliveTimeout = 60_000;
    endpoint.#server.listen(0, '127.0.0.1');
    await once(endpoint.#server, 'listening');
    return endpoint;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  /** Resolves when the endpoint has received `count` more requests. */
  async gets(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#expected = this.#count + count;
    this.#reached = resolve;
    await promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
