import type { FastifyReply, FastifyRequest } from 'fastify';

import { ApiError } from '../contract/errors.ts';
import { SECOND } from '../kit/clock.ts';
import type { Caller } from '../routes/context.ts';
import { HEARTBEAT, type MessageSink } from '../routes/message-sink.ts';
import { EventConnection } from './event-connection.ts';
import { presentedKey } from './gate/credentials.ts';
import { traceOf } from './request-trace.ts';
import { completedHead, sendWhole } from './send.ts';

/** How often the keys of open streams are checked, in milliseconds. */
const KEY_CHECK = SECOND;

/** The `Retry-After` for a client with too many streams, in seconds. */
const WAIT_FOR_STREAM = 5;

export interface EventStreamsOptions {
  /** The maximum number of streams of one API key, with all its secrets together. */
  mostPerKey: number;
  heartbeat?: number | undefined;
  /** Finds the API key of a secret; `undefined` if it is not valid now. */
  findCaller: (key: string) => Caller | undefined | Promise<Caller | undefined>;
  /** Called when a stream is dropped, with its reader and the reason. */
  onDrop: (reader: Reader, reason: string) => void;
}

interface Reader {
  requestId: string;
  keyId: number;
  traceId: string | undefined;
}

interface OpenStream {
  connection: EventConnection;
  key: string;
  caller: Caller;
}

/** The open streams of server-sent events. Limits their number per key, and ends those whose key may no longer read them. */
export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #byKey = new Map<number, Set<OpenStream>>();
  #keyCheck: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: EventStreamsOptions) {
    this.#options = options;
  }

  /** The number of open streams. */
  get count(): number {
    let count = 0;
    for (const streams of this.#byKey.values()) count += streams.size;
    return count;
  }

  /** Responds with a stream. Throws `too_many_streams`. */
  start(request: FastifyRequest, reply: FastifyReply, start: (sink: MessageSink) => void): void {
    const { mostPerKey, heartbeat = HEARTBEAT, onDrop } = this.#options;
    const caller = request.caller!;
    const ofKey = this.#byKey.get(caller.keyId) ?? new Set();
    if (ofKey.size >= mostPerKey) throw tooManyStreams(mostPerKey);
    const headers = {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      // The end of the stream also ends the connection.
      connection: 'close',
    };
    if (request.method === 'HEAD') {
      sendWhole(request, reply, 200, headers);
      return;
    }
    // Another response was sent instead, because the start took too long.
    if (request.isOverdue && reply.raw.headersSent) return;
    reply.hijack();
    // The client has disconnected: there will be no further event `close`.
    if (reply.raw.destroyed) return;
    reply.raw.writeHead(200, completedHead(request, headers));
    const traceId = traceOf(request)?.traceId;
    const connection = new EventConnection(reply.raw, heartbeat, reason =>
      onDrop({ requestId: request.id, keyId: caller.keyId, traceId }, reason),
    );
    request.stream = connection;
    this.#add(ofKey, { connection, key: presentedKey(request.headers)!, caller });
    start(connection);
    if (this.#isClosed) this.#end(connection);
  }

  /** Throws `invalid_api_key` when the key of a long poll may no longer read events. */
  async rejectEnded(request: FastifyRequest): Promise<void> {
    if (await this.#isStillAllowed(presentedKey(request.headers)!, request.caller!)) return;
    throw new ApiError('invalid_api_key', 'The API key may no longer read events', {
      'www-authenticate': 'Bearer realm="petstore", error="invalid_token"',
    });
  }

  /** Ends all streams; their clients continue at another replica. */
  close(): void {
    this.#isClosed = true;
    for (const { connection } of this.#all()) this.#end(connection);
  }

  #add(ofKey: Set<OpenStream>, stream: OpenStream): void {
    const { keyId } = stream.caller;
    ofKey.add(stream);
    this.#byKey.set(keyId, ofKey);
    this.#keyCheck ??= setInterval(() => this.#checkKeys(), KEY_CHECK).unref();
    stream.connection.onClose(() => {
      ofKey.delete(stream);
      if (ofKey.size > 0) return;
      this.#byKey.delete(keyId);
      if (this.#byKey.size > 0) return;
      clearInterval(this.#keyCheck);
      this.#keyCheck = undefined;
    });
  }

  #all(): OpenStream[] {
    return [...this.#byKey.values()].flatMap(streams => [...streams]);
  }

  #end(connection: EventConnection): void {
    connection.end('The service is shutting down; connect again to continue');
  }

  /** Whether a key still has the scope that it had as `before`, at the start of its stream. */
  async #isStillAllowed(key: string, before: Caller): Promise<boolean> {
    const scopes = (await this.#options.findCaller(key))?.scopes;
    return scopes?.has('admin') || (scopes?.has('events:read') && !before.scopes.has('admin')) || false;
  }

  #checkKeys(): void {
    for (const { connection, key, caller } of this.#all()) {
      this.#isStillAllowed(key, caller).then(
        allowed => {
          if (!allowed) connection.end('The API key may no longer read these events');
        },
        () => {}, // The database is unavailable: the next check decides.
      );
    }
  }
}

function tooManyStreams(most: number): ApiError {
  return new ApiError(
    'too_many_streams',
    `The API key has ${most} open streams, which is the maximum: end one of them, or use another key`,
    { 'retry-after': String(WAIT_FOR_STREAM) },
  );
}
