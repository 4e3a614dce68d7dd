import type { Server } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { OwedResponses } from './owed-responses.ts';

declare module 'node:http' {
  interface ServerResponse {
    /** The framework's part of the response; `undefined` while the request waits for others on its connection. */
    reply?: FastifyReply | undefined;
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the response to the request took too long, so that another one was sent instead. */
    isOverdue: boolean;
  }
}

interface ResponseDeadlineOptions {
  owed: OwedResponses;
  /** How long the service may take to begin a response, in milliseconds. */
  limit: number;
  /** The interval of the checks, in milliseconds. */
  check: number;
  /** Called once for each request whose response is overdue. */
  onOverdue: (reply: FastifyReply) => void;
}

/**
 * Finds requests that have no response for too long, so that a part which hangs does not occupy connections forever. A response
 * that has begun may take any time: a stream does not end, and a client may read slowly.
 *
 * One timer checks all requests in flight, because a timer for each would cost every request. The time counts from the first
 * check that finds a request complete, so a response is overdue by up to two intervals when it is found.
 */
export class ResponseDeadline {
  readonly #options: ResponseDeadlineOptions;
  /** When a check first found that a response is missing, on the clock of `performance.now()`. */
  readonly #missingSince = new WeakMap<FastifyReply, number>();

  constructor(options: ResponseDeadlineOptions) {
    this.#options = options;
  }

  watch(http: Server): void {
    http.once('listening', () => {
      const checks = setInterval(() => this.#check(), this.#options.check).unref();
      http.once('close', () => clearInterval(checks));
    });
  }

  #check(): void {
    const now = performance.now();
    for (const { reply, headersSent, req } of this.#options.owed.all()) {
      if (reply && !headersSent && req.complete && !reply.request.isOverdue) this.#checkReply(reply, now);
    }
  }

  #checkReply(reply: FastifyReply, now: number): void {
    const { limit, onOverdue } = this.#options;
    const { request } = reply;
    const since = this.#missingSince.get(reply);
    if (since === undefined) this.#missingSince.set(reply, now);
    else if (now - since >= limit + (request.operation?.longestWait ?? 0)) {
      request.isOverdue = true;
      onOverdue(reply);
    }
  }
}
