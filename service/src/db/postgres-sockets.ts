import { once } from 'node:events';
import { Socket } from 'node:net';

/** All sockets to the server, also those of connections that are given up and wait for the server's goodbye. */
export class Sockets {
  readonly #open = new Set<Socket>();

  /** One that is yet to be connected. */
  create(): Socket {
    const socket = new Socket();
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    return socket;
  }

  cutOff(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** Resolves once those that are open now are closed. */
  async closed(): Promise<void> {
    await Promise.all([...this.#open].map(socket => once(socket, 'close')));
  }
}
