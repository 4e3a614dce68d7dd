import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { http } from '../kit/node-http.ts';

/** The maximum number of requests of one connection that are handled concurrently. */
const AT_ONCE = 8;

/** The maximum number of further requests that may wait on a connection. A client that reads responses stays far below it. */
export const MAX_WAITING = 500;

/**
 * The responses that each connection still owes to its client. They are sent in the order of their requests.
 *
 * A client may send requests before it has read the responses to earlier ones (RFC 9112 §9.3.2), and 64 KiB that arrive
 * together can contain 2,400 requests, which node:http emits in one turn of the event loop. This class handles a few
 * concurrently, and one of a connection in each turn.
 */
export class OwedResponses {
  readonly #bySocket = new Map<Socket, Set<ServerResponse>>();
  readonly #waiting = new WeakMap<Socket, Parameters<RequestListener>[]>();
  /** Connections whose next request is handled in the next turn. */
  readonly #hasTurn = new WeakSet<Socket>();
  /** Connections with a rejected request: later requests are also rejected. */
  readonly #rejected = new WeakSet<Socket>();
  /** Connections whose last response was announced with `Connection: close`. */
  readonly #ending = new WeakSet<Socket>();

  /**
   * Replaces the server's request listener. `reject` is called for each request that is over the limit of waiting ones, or has a
   * method that only another protocol has (`PLAY / RTSP/1.0`): the parser also reads those. `onEnd` is called for each response that was
   * sent, or whose connection has ended before that.
   */
  watch(
    server: Server,
    reject: (request: IncomingMessage) => void,
    onEnd: (response: ServerResponse) => void,
  ): void {
    const handle = server.listeners('request').at(-1) as RequestListener;
    server.off('request', handle);
    const handleNext = (socket: Socket) => {
      this.#hasTurn.delete(socket);
      const next = socket.destroyed ? undefined : this.#waiting.get(socket)?.shift();
      if (!next) return;
      handle.call(server, ...next);
      takeTurn(socket);
    };
    /** Handles the next request of a connection in the next turn, if one waits and not too many are being handled. */
    const takeTurn = (socket: Socket) => {
      const waiting = this.#waiting.get(socket)?.length ?? 0;
      const handled = (this.#bySocket.get(socket)?.size ?? 0) - waiting;
      if (waiting === 0 || handled >= AT_ONCE || this.#hasTurn.has(socket)) return;
      this.#hasTurn.add(socket);
      setImmediate(handleNext, socket);
    };
    const settle = (socket: Socket, response: ServerResponse) => {
      this.#bySocket.get(socket)?.delete(response);
      takeTurn(socket);
    };
    // One function for all responses: a closure for each would be garbage.
    function onClose(this: ServerResponse): void {
      onEnd(this);
      const { req } = this;
      // An incomplete request stays, because `toIncomplete` must find it when the rest is rejected.
      if (req.complete) settle(req.socket, this);
      else req.once('close', () => settle(req.socket, this));
    }
    server.on('request', (request, response) => {
      const { socket } = request;
      // The connection can send no further response (RFC 9112 §9.6).
      if (this.#ending.has(socket)) return;
      let owed = this.#bySocket.get(socket);
      if (!owed) {
        owed = new Set();
        this.#bySocket.set(socket, owed);
        socket.once('close', () => this.#bySocket.delete(socket));
      }
      if (owed.size >= AT_ONCE + MAX_WAITING || !isMethodOfHttp(request)) this.#rejected.add(socket);
      if (this.#rejected.has(socket)) {
        reject(request);
        return;
      }
      owed.add(response);
      response.on('close', onClose);
      if (owed.size === 1) {
        handle.call(server, request, response);
        return;
      }
      const waiting = this.#waiting.get(socket);
      if (waiting) waiting.push([request, response]);
      else this.#waiting.set(socket, [[request, response]]);
      takeTurn(socket);
    });
  }

  /** The responses that all connections owe. */
  *all(): Iterable<ServerResponse> {
    for (const owed of this.#bySocket.values()) yield* owed;
  }

  /** The response to an incomplete request. Only the last request of a connection can be incomplete. */
  toIncomplete(socket: Socket): ServerResponse | undefined {
    const last = this.#of(socket).at(-1);
    return last?.req.complete ? undefined : last;
  }

  /**
   * Resolves when all responses except `except` have been sent, or the connection is closed. Returns `undefined` when no
   * response is owed.
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
   * Whether the service is still making the response to a complete request. If not, the connection waits for the client:
   * waiting requests are handled when the client has read the responses before theirs.
   */
  areBeingMade(socket: Socket): boolean {
    const owed = this.#of(socket);
    const started = owed.slice(0, owed.length - (this.#waiting.get(socket)?.length ?? 0));
    return started.some(({ req, writableEnded }) => req.complete && !writableEnded);
  }

  /** Whether a response is complete but not yet sent completely. */
  areBeingSent(socket: Socket): boolean {
    return this.#of(socket).some(({ writableEnded, writableFinished }) => writableEnded && !writableFinished);
  }

  /**
   * If this is the response to the newest request, marks it as the last of its connection and ignores later requests.
   * Returns whether it is.
   */
  endWith(response: ServerResponse): boolean {
    const { socket } = response.req;
    if (this.#of(socket).at(-1) !== response) return false;
    this.#ending.add(socket);
    return true;
  }

  /** Whether the connection owes the response to a write. */
  includeWrite(socket: Socket): boolean {
    return this.#of(socket).some(isOfWrite);
  }

  #of(socket: Socket): ServerResponse[] {
    return [...(this.#bySocket.get(socket) ?? [])];
  }
}

const methods: ReadonlySet<string | undefined> = new Set(http.METHODS);

export function isMethodOfHttp({ method }: IncomingMessage): boolean {
  return methods.has(method);
}

function isOfWrite({ req: { method, complete } }: ServerResponse): boolean {
  return complete && method !== 'GET' && method !== 'HEAD';
}
