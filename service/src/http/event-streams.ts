import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { MessageSink } from '../contract/define-route.ts';
import { ApiError } from '../contract/errors.ts';
import { SECOND } from '../kit/clock.ts';

/** How often a stream shows that it is alive; a reader that took nothing for as long is dropped. In milliseconds. */
const HEARTBEAT = 15 * SECOND;

/** How long a client waits before it connects again, in milliseconds. */
const RETRY = 2 * SECOND;

/** How often it is looked whether the keys of open streams still work, in milliseconds. */
const KEY_CHECK = SECOND;

/** How long a client that is over its number of streams is told to wait, in seconds. */
const WAIT_FOR_STREAM = 5;

/** Answers whether a key still works and may read events. */
export type KeyCheck = (key: string) => boolean | Promise<boolean>;

/** The streams of server-sent events that are open: as many for each key as it may have, and none of a key that ended. */
export class EventStreams {
  readonly #mostPerKey: number;
  readonly #stillAllowed: KeyCheck;
  readonly #byKey = new Map<string, Set<EventConnection>>();
  #keyCheck: NodeJS.Timeout | undefined;

  constructor(mostPerKey: number, stillAllowed: KeyCheck) {
    this.#mostPerKey = mostPerKey;
    this.#stillAllowed = stillAllowed;
  }

  get open(): number {
    return [...this.#byKey.values()].reduce((sum, connections) => sum + connections.size, 0);
  }

  /** Answers a request with a stream. Throws `too_many_streams`. */
  start(key: string, request: FastifyRequest, reply: FastifyReply, start: (sink: MessageSink) => void): void {
    const connections = this.#byKey.get(key) ?? new Set();
    if (connections.size >= this.#mostPerKey) throw tooManyStreams(this.#mostPerKey);
    reply.headers({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    if (request.method === 'HEAD') {
      void reply.send();
      return;
    }
    reply.hijack();
    reply.raw.writeHead(200, reply.getHeaders() as Record<string, string>);
    const connection = new EventConnection(reply.raw);
    connections.add(connection);
    this.#byKey.set(key, connections);
    this.#keyCheck ??= setInterval(() => this.#checkKeys(), KEY_CHECK).unref();
    connection.onClose(() => {
      connections.delete(connection);
      if (connections.size > 0) return;
      this.#byKey.delete(key);
      if (this.#byKey.size > 0) return;
      clearInterval(this.#keyCheck);
      this.#keyCheck = undefined;
    });
    start(connection);
  }

  /** Ends all streams; their clients go on elsewhere. */
  close(): void {
    for (const connections of [...this.#byKey.values()]) {
      for (const connection of [...connections])
        connection.end('The service is shutting down; connect again to go on');
    }
  }

  #checkKeys(): void {
    for (const [key, connections] of this.#byKey) {
      Promise.resolve(this.#stillAllowed(key)).then(
        allowed => {
          if (allowed) return;
          for (const connection of [...connections]) connection.end('The API key may no longer read events');
        },
        () => {}, // The database is away: the next look decides.
      );
    }
  }
}

/** One client that reads a stream of server-sent events (HTML Living Standard, §9.2). */
class EventConnection implements MessageSink {
  readonly #response: ServerResponse;
  readonly #heartbeat: NodeJS.Timeout;
  #blockedSince: number | undefined;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on('drain', () => {
      this.#blockedSince = undefined;
    });
    // A connection that breaks ends the stream, and `close` tells of it.
    response.on('error', () => {});
    this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT);
    response.once('close', () => clearInterval(this.#heartbeat));
    this.#write([Buffer.from(`retry: ${RETRY}\n\n`)]);
  }

  send(messages: readonly Uint8Array[]): boolean {
    return this.#write(messages);
  }

  end(reason: string): void {
    if (this.#response.writableEnded) return;
    this.#response.end(`: ${reason}\n\n`);
    // A reader that takes nothing would never see the end.
    if (this.#blockedSince !== undefined) this.#response.destroy();
  }

  onDrain(listener: () => void): void {
    this.#response.on('drain', listener);
  }

  onClose(listener: () => void): void {
    this.#response.once('close', listener);
  }

  #beat(): void {
    if (this.#blockedSince === undefined) this.#write([Buffer.from(':\n\n')]);
    else if (performance.now() - this.#blockedSince >= HEARTBEAT) {
      this.end(`Dropped: nothing was read for ${HEARTBEAT / SECOND} seconds`);
    }
  }

  #write(messages: readonly Uint8Array[]): boolean {
    if (this.#response.writableEnded || this.#response.destroyed) return false;
    this.#response.cork();
    let taken = true;
    for (const message of messages) taken = this.#response.write(message);
    this.#response.uncork();
    if (!taken) this.#blockedSince ??= performance.now();
    return taken;
  }
}

function tooManyStreams(most: number): ApiError {
  return new ApiError(
    'too_many_streams',
    `The API key has ${most} streams open, as many as it may: end one of them, or use another key`,
    { 'retry-after': String(WAIT_FOR_STREAM) },
  );
}
