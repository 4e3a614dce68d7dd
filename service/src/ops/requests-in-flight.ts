import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Counts the requests that a server is handling, and those whose client disconnected before the response was complete. */
export class RequestsInFlight {
  count = 0;
  aborted = 0;
  /** Requests in flight by connection. */
  readonly #open = new WeakMap<Socket, { count: number }>();

  constructor(server: Server) {
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const open = this.#open.get(socket) ?? this.#connected(socket);
      open.count++;
      this.count++;
      response.on('close', () => {
        if (open.count === 0) return;
        open.count--;
        this.count--;
        if (!response.writableFinished) this.aborted++;
      });
    });
  }

  /** Watches the connection too: a response that waits behind others on it emits no `close` when the connection closes. */
  #connected(socket: Socket): { count: number } {
    const open = { count: 0 };
    this.#open.set(socket, open);
    socket.once('close', () => {
      this.count -= open.count;
      this.aborted += open.count;
      open.count = 0;
    });
    return open;
  }
}
