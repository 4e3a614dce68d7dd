import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The responses that each connection still owes to its client. They leave in the order of their requests. */
export class OwedResponses {
  readonly #bySocket = new WeakMap<Socket, Set<ServerResponse>>();

  watch(server: Server): void {
    const bySocket = this.#bySocket;
    // One function for all responses: a closure for each would be garbage.
    function onClose(this: ServerResponse): void {
      const { req } = this;
      const forget = () => bySocket.get(req.socket)?.delete(this);
      // A request of which a part is missing still decides how that part is refused.
      if (req.complete) forget();
      else req.once('close', forget);
    }
    server.prependListener('request', ({ socket }, response) => {
      const owed = bySocket.get(socket);
      if (owed) owed.add(response);
      else bySocket.set(socket, new Set([response]));
      response.on('close', onClose);
    });
  }

  /** The response to a request of which a part is missing. Only the last request of a connection can be such. */
  toIncomplete(socket: Socket): ServerResponse | undefined {
    const last = this.#of(socket).at(-1);
    return last?.req.complete ? undefined : last;
  }

  /**
   * Resolves when all responses, apart from `except`, have been sent, or the connection is closed. Returns `undefined` when
   * there are none to wait for.
   */
  sent(socket: Socket, except: ServerResponse | undefined): Promise<void> | undefined {
    const last = this.#of(socket).findLast(response => response !== except);
    return (
      last &&
      new Promise(resolve => {
        last.once('close', resolve);
        socket.once('close', resolve);
      })
    );
  }

  /** Whether the service is still making the response to a complete request; otherwise the client has to act. */
  areBeingMade(socket: Socket): boolean {
    return this.#of(socket).some(({ req, writableEnded }) => req.complete && !writableEnded);
  }

  /** Whether the response to a write is among them. */
  includeWrite(socket: Socket): boolean {
    return this.#of(socket).some(isOfWrite);
  }

  #of(socket: Socket): ServerResponse[] {
    return [...(this.#bySocket.get(socket) ?? [])];
  }
}

function isOfWrite({ req: { method, complete } }: ServerResponse): boolean {
  return complete && method !== 'GET' && method !== 'HEAD';
}
