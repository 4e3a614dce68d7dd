import { once } from 'node:events';
import { Socket } from 'node:net';

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

  cutOff(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** Resolves when all sockets that are open now are closed. */
  async closed(): Promise<void> {
    await Promise.all([...this.#open].map(socket => once(socket, 'close')));
  }
}
