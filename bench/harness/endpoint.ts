import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An endpoint for webhooks on this machine. It returns 204 at once and counts the requests. */
export class Endpoint implements AsyncDisposable {
  readonly #server: Server;
  #count = 0;
  #expected = 0;
  #reached = () => {};

  private constructor() {
    this.#server = createServer((request, response) => {
      request.resume();
      response.writeHead(204).end();
      this.#count++;
      if (this.#count === this.#expected) this.#reached();
    });
    // Connections stay open longer than the pauses of a measurement.
    this.#server.keepAliveTimeout = 60_000;
  }

  /** `host` is a loopback address; each address counts as a separate host. */
  static async start(host: string): Promise<Endpoint> {
    const endpoint = new Endpoint();
    endpoint.#server.listen(0, host);
    await once(endpoint.#server, 'listening');
    return endpoint;
  }

  get url(): string {
    const { address, port } = this.#server.address() as AddressInfo;
    return `http://${address}:${port}/hook`;
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
