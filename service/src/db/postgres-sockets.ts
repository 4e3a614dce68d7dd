import { Socket } from 'node:net';
import type { PoolClient } from 'pg';

/** The code of CancelRequest (PostgreSQL, chapter 55.7). */
const CANCEL_REQUEST = 80_877_102;

/** All sockets to the server, including those of abandoned connections that wait for the server to close them. */
export class Sockets {
  readonly #open = new Set<Socket>();

  /** Returns a socket that is not connected yet. */
  create(): Socket {
    const socket = new Socket();
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    return socket;
  }

  /** Asks the server on another connection to end the statement of a client. If the request is lost, the client's time limit remains. */
  requestCancel(client: PoolClient): void {
    const { host, port, processID, secretKey } = client as PoolClient & Record<string, number>;
    const socket = this.create();
    socket.on('error', () => {});
    const request = Buffer.alloc(16);
    for (const [i, value] of [request.length, CANCEL_REQUEST, processID!, secretKey!].entries())
      request.writeInt32BE(value, 4 * i);
    const address = String(host).startsWith('/')
      ? { path: `${host}/.s.PGSQL.${port}` }
      : { host: String(host), port: port! };
    socket.connect(address, () => socket.end(request));
  }

  cutOff(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** Resolves when all sockets that are open now are closed, even if they break meanwhile: whatever used them has reported that. */
  async closed(): Promise<void> {
    await Promise.all([...this.#open].map(socket => new Promise(resolve => socket.once('close', resolve))));
  }
}
