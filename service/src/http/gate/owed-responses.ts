import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The requests of one connection that are handled at once. */
const AT_ONCE = 8;

/** How many more may wait on a connection. A client that reads responses never gets near it. */
export const MOST_WAITING = 500;

/**
 * The responses that each connection still owes to its client. They leave in the order of their requests.
 *
 * A client may send requests before it has read the responses to earlier ones (RFC 9112 §9.3.2), and 64 KiB that arrive
 * together can hold 2,400 requests, which node:http hands over in one turn of the event loop. Here a few are handled at
 * once, and each further one in a later turn.
 */
export class OwedResponses {
  readonly #bySocket = new WeakMap<Socket, Set<ServerResponse>>();
  readonly #waiting = new WeakMap<Socket, Parameters<RequestListener>[]>();
  /** Connections with a request that was not accepted: no later one is, either. */
  readonly #overfull = new WeakSet<Socket>();
  /** Connections on which a response has said that it is the last. */
  readonly #ending = new WeakSet<Socket>();

  /** Takes the place of the server's request listener. `onExcess` is called for each request that may not even wait. */
  watch(server: Server, onExcess: (socket: Socket) => void): void {
    const handle = server.listeners('request').at(-1) as RequestListener;
    server.off('request', handle);
    const handleNext = (socket: Socket) => {
      const next = socket.destroyed ? undefined : this.#waiting.get(socket)?.shift();
      if (next) handle.call(server, ...next);
    };
    const forget = (socket: Socket, response: ServerResponse) => {
      this.#bySocket.get(socket)?.delete(response);
      if (this.#waiting.get(socket)?.length) setImmediate(handleNext, socket);
    };
    // One function for all responses: a closure for each would be garbage.
    function onClose(this: ServerResponse): void {
      const { req } = this;
      // A request of which a part is missing still decides how that part is rejected.
      if (req.complete) forget(req.socket, this);
      else req.once('close', () => forget(req.socket, this));
    }
    server.on('request', (request, response) => {
      const { socket } = request;
      // Its response could not be sent any more (RFC 9112 §9.6).
      if (this.#ending.has(socket)) return;
      let owed = this.#bySocket.get(socket);
      if (!owed) {
        owed = new Set();
        this.#bySocket.set(socket, owed);
      }
      if (owed.size >= AT_ONCE + MOST_WAITING) this.#overfull.add(socket);
      if (this.#overfull.has(socket)) {
        onExcess(socket);
        return;
      }
      owed.add(response);
      response.on('close', onClose);
      const waiting = this.#waiting.get(socket);
      if (owed.size <= AT_ONCE && !waiting?.length) handle.call(server, request, response);
      else if (waiting) waiting.push([request, response]);
      else this.#waiting.set(socket, [[request, response]]);
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

  /**
   * Whether the service is still making the response to a complete request; otherwise the client has to act. Requests that
   * wait do so for the client, which has not read the responses before theirs.
   */
  areBeingMade(socket: Socket): boolean {
    const owed = this.#of(socket);
    const begun = owed.slice(0, owed.length - (this.#waiting.get(socket)?.length ?? 0));
    return begun.some(({ req, writableEnded }) => req.complete && !writableEnded);
  }

  /** Whether one is complete but has not left yet as a whole. */
  areBeingSent(socket: Socket): boolean {
    return this.#of(socket).some(({ writableEnded, writableFinished }) => writableEnded && !writableFinished);
  }

  /**
   * Ends the connection with this response if it is the one to the newest request, and ignores later requests. Returns
   * whether it is.
   */
  endWith(response: ServerResponse): boolean {
    const { socket } = response.req;
    if (this.#of(socket).at(-1) !== response) return false;
    this.#ending.add(socket);
    return true;
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
