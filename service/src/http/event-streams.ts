import type { FastifyReply, FastifyRequest } from 'fastify';

import { ApiError } from '../contract/errors.ts';
import type { Operation } from '../contract/operation.ts';
import { SECOND } from '../kit/clock.ts';
import { rejectMismatch } from '../routes/conditional.ts';
import type { Caller } from '../routes/context.ts';
import { HEARTBEAT } from '../routes/message-sink.ts';
import type { StreamReply } from '../routes/reply.ts';
import { EventConnection } from './event-connection.ts';
import { presentedKey } from './gate/credentials.ts';
import { addressNotAllowed } from './gate/foreign-address.ts';
import { tooManyStreams } from './gate/rate-limit-errors.ts';
import { rejectWithoutScope } from './gate/scope-check.ts';
import { traceOf } from './request-trace.ts';
import { completedHead, sendWhole } from './send.ts';

/** How often the keys of open streams are checked, in milliseconds. */
const KEY_CHECK = SECOND;

interface EventStreamsOptions {
  /** The maximum number of streams of one API key, with all its secrets together. */
  mostPerKey: number;
  heartbeat?: number | undefined;
  /** Finds the API key of a secret; `undefined` if it is not valid now. A change by another process may take effect a second later. */
  findCaller: FindCaller;
  /** The same, with every change that was committed before the call. */
  findStoredCaller: FindCaller;
  /** Called when a stream is dropped, with its reader and the reason. */
  onDrop: (reader: Reader, reason: string) => void;
}

type FindCaller = (key: string) => Caller | undefined | Promise<Caller | undefined>;

interface Reader {
  requestId: string;
  keyId: number;
  traceId: string | undefined;
}

interface OpenStream extends Pick<StreamReply, 'reasonToEnd'> {
  connection: EventConnection;
  key: string;
  keyId: number;
  /** The address of the client. */
  address: string;
  operation: ScopedOperation;
}

type ScopedOperation = Pick<Operation, 'scope' | 'anyOfScopes' | 'countedBy'>;

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

  /** Responds with a stream. Throws `invalid_api_key`, `insufficient_scope` and `too_many_streams`. */
  async start(
    request: FastifyRequest,
    reply: FastifyReply,
    operation: ScopedOperation,
    { start, reasonToEnd }: StreamReply,
  ): Promise<void> {
    // The stream begins at a position that was read before: the key has its rights at this position or later ones.
    const { scopes } = await this.currentCaller(request, operation);
    const reason = reasonToEnd(scopes);
    const { mostPerKey, heartbeat = HEARTBEAT, onDrop } = this.#options;
    const { keyId } = request.caller!;
    const ofKey = this.#byKey.get(keyId) ?? new Set();
    if (ofKey.size >= mostPerKey) throw tooManyStreams(mostPerKey);
    rejectMismatch(request.headers, undefined);
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
      onDrop({ requestId: request.id, keyId, traceId }, reason),
    );
    request.stream = connection;
    const key = presentedKey(request.headers)!;
    const { address } = request;
    const stream = { connection, key, keyId, address, operation, reasonToEnd };
    this.#add(ofKey, stream);
    if (reason !== undefined) connection.end(reason);
    else start(connection, () => this.#reasonToEnd(stream, this.#options.findStoredCaller));
    if (this.#isClosed) this.#end(connection);
  }

  /** Returns the caller of a request as the store has it now. Throws `invalid_api_key`, `address_not_allowed` and `insufficient_scope`. */
  async currentCaller(request: FastifyRequest, operation: ScopedOperation): Promise<Caller> {
    const caller = await this.#options.findStoredCaller(presentedKey(request.headers)!);
    if (!caller) {
      throw new ApiError('invalid_api_key', 'The API key may no longer read events', {
        'www-authenticate': 'Bearer realm="petstore", error="invalid_token"',
      });
    }
    const { address } = request;
    if (caller.networks?.includes(address) === false) throw addressNotAllowed(address);
    rejectWithoutScope(operation, caller);
    return caller;
  }

  /** Ends all streams; their clients continue at another replica. */
  close(): void {
    this.#isClosed = true;
    for (const { connection } of this.#all()) this.#end(connection);
  }

  #add(ofKey: Set<OpenStream>, stream: OpenStream): void {
    const { keyId } = stream;
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

  /** Returns why a stream ends, because its key has ended or has other scopes; `undefined` if it continues. */
  async #reasonToEnd(
    { key, address, operation, reasonToEnd }: OpenStream,
    findCaller: FindCaller,
  ): Promise<string | undefined> {
    const caller = await findCaller(key);
    if (!caller) return 'The API key may no longer read these events';
    if (caller.networks?.includes(address) === false) return addressNotAllowed(address).message;
    try {
      rejectWithoutScope(operation, caller);
      return reasonToEnd(caller.scopes);
    } catch (error) {
      if (error instanceof ApiError) return error.message;
      throw error;
    }
  }

  #checkKeys(): void {
    for (const stream of this.#all()) {
      this.#reasonToEnd(stream, this.#options.findCaller).then(
        reason => {
          if (reason !== undefined) stream.connection.end(reason);
        },
        () => {}, // The database is unavailable: the next check decides.
      );
    }
  }
}
