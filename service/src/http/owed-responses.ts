import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { http } from '../kit/node-http.ts';

/** The maximum number of requests of one connection that are handled concurrently. */
const AT_ONCE = 8;

/** The maximum number of further requests that may wait on a connection. A client that reads responses stays far below it. */
export const MAX_WAITING = 500;

/** What a connection owes to its client. One object, because every request needs all of it. */
interface Connection {
  /** In the order of their requests. */
  readonly owed: ServerResponse[];
  /** The requests that are not handled yet: their responses are the last ones that are owed. */
  readonly waiting: Parameters<RequestListener>[];
  /** Whether its next request is handled in the next turn. */
  hasTurn: boolean;
  /** Whether a request was rejected: later requests are also rejected. */
  isRejected: boolean;
  /** Whether its last response was announced with `Connection: close`. */
  isEnding: boolean;
}

/**
 * The responses that each connection still owes to its client. They are sent in the order of their requests.
 *
 * A client may send requests before it has read the responses to earlier ones (RFC 9112 §9.3.2), and 64 KiB that arrive
 * together can contain 2,400 requests, which node:http emits in one turn of the event loop. This class handles a few
 * concurrently, and one of a connection in each turn.
 */
export class OwedResponses {
  readonly #connections = new Map<Socket, Connection>();
  #aborted = 0;

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
    const handleNext = (socket: Socket, connection: Connection) => {
      connection.hasTurn = false;
      const next = socket.destroyed ? undefined : connection.waiting.shift();
      if (!next) return;
      handle.call(server, ...next);
      takeTurn(socket, connection);
    };
    /** Handles the next request of a connection in the next turn, if one waits and not too many are being handled. */
    const takeTurn = (socket: Socket, connection: Connection) => {
      const waiting = connection.waiting.length;
      if (waiting === 0 || connection.owed.length - waiting >= AT_ONCE || connection.hasTurn) return;
      connection.hasTurn = true;
      setImmediate(handleNext, socket, connection);
    };
    const settle = (response: ServerResponse) => {
      const { socket } = response.req;
      const connection = this.#connections.get(socket);
      if (!connection) return;
      remove(connection.owed, response);
      if (!response.writableFinished) this.#aborted++;
      takeTurn(socket, connection);
    };
    const settleOnceRead = (response: ServerResponse) => response.req.once('close', () => settle(response));
    // One function for all responses: a closure for each would be garbage.
    function onClose(this: ServerResponse): void {
      onEnd(this);
      // An incomplete request stays, because `toIncomplete` must find it when the rest is rejected.
      if (this.req.complete) settle(this);
      else settleOnceRead(this);
    }
    server.on('request', (request, response) => {
      const { socket } = request;
      const connection = this.#connectionOf(socket);
      // The connection can send no further response (RFC 9112 §9.6).
      if (connection.isEnding) return;
      const { owed, waiting } = connection;
      if (owed.length >= AT_ONCE + MAX_WAITING || !isMethodOfHttp(request)) connection.isRejected = true;
      if (connection.isRejected) {
        reject(request);
        return;
      }
      owed.push(response);
      response.on('close', onClose);
      if (owed.length === 1) {
        handle.call(server, request, response);
        return;
      }
      waiting.push([request, response]);
      takeTurn(socket, connection);
    });
  }

  /** The number of responses that are not sent completely. */
  get unfinished(): number {
    let count = 0;
    for (const { writableFinished } of this.all()) if (!writableFinished) count++;
    return count;
  }

  /** The number of responses whose connection closed before they were sent completely. */
  get aborted(): number {
    return this.#aborted;
  }

  /** The responses that all connections owe. */
  *all(): Iterable<ServerResponse> {
    for (const { owed } of this.#connections.values()) yield* owed;
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
   * Whether the service is still making the response to a complete request, or handles the next one in this turn. If not, the
   * connection waits for the client: waiting requests are handled when the client has read the responses before theirs.
   */
  areBeingMade(socket: Socket): boolean {
    const { owed = [], waiting = [], hasTurn = false } = this.#connections.get(socket) ?? {};
    const started = owed.slice(0, owed.length - waiting.length);
    return hasTurn || started.some(({ req, writableEnded }) => req.complete && !writableEnded);
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
    const connection = this.#connections.get(response.req.socket);
    if (connection?.owed.at(-1) !== response) return false;
    connection.isEnding = true;
    return true;
  }

  /** Whether the connection owes the response to a write. */
  includeWrite(socket: Socket): boolean {
    return this.#of(socket).some(isOfWrite);
  }

  #of(socket: Socket): readonly ServerResponse[] {
    return this.#connections.get(socket)?.owed ?? [];
  }

  #connectionOf(socket: Socket): Connection {
    const known = this.#connections.get(socket);
    if (known) return known;
    const connection: Connection = {
      owed: [],
      waiting: [],
      hasTurn: false,
      isRejected: false,
      isEnding: false,
    };
    this.#connections.set(socket, connection);
    socket.once('close', () => {
      this.#connections.delete(socket);
      // A response that waits behind others emits no `close`.
      for (const { writableFinished } of connection.owed) if (!writableFinished) this.#aborted++;
    });
    return connection;
  }
}

/** Removes a response from those that are owed. `pop` keeps the memory of the list for the next request; `shift` would not. */
function remove(owed: ServerResponse[], response: ServerResponse): void {
  const at = owed.indexOf(response);
  if (at < 0) return;
  if (at === owed.length - 1) owed.pop();
  else owed.splice(at, 1);
}

const methods: ReadonlySet<string | undefined> = new Set(http.METHODS);

export function isMethodOfHttp({ method }: IncomingMessage): boolean {
  return methods.has(method);
}

function isOfWrite({ req: { method, complete } }: ServerResponse): boolean {
  return complete && method !== 'GET' && method !== 'HEAD';
}
