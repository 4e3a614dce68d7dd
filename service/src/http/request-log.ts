import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { traceOf } from './request-trace.ts';

declare module 'fastify' {
  interface FastifyRequest {
    isLogged: boolean;
  }
}

/** What is told of a request: never a header, a body or a key, only the key's ID. Null is what could not be read. */
export interface Told {
  requestId: string;
  method: string | null;
  /** The path template of the operation. */
  route: string | null;
  /** Null when the caller went away before the answer. */
  status: number | null;
  durationMs: number | null;
  keyId: number | null;
  /** Null when the request is part of no trace. */
  traceId: string | null;
}

/** The same of a request that was answered. */
export type Answered = Told & { status: number };

/** pino's number for the level `info`. */
const INFO = 30;

/**
 * One line per request, as pino writes its lines. The line is put together here: it is the same every time, and a general
 * serializer takes a fifth of the time that a read takes as a whole. None of its texts needs escaping: a request ID is
 * taken over only when it is well-formed, methods are tokens of HTTP, and templates are ours.
 */
export class RequestLog {
  readonly #destination: { write(line: string): void };
  readonly #enabled: boolean;
  readonly #onResponse: ((told: Answered) => void) | undefined;

  /** `onResponse` is told of each request that was answered, whether it is logged or not. */
  constructor(
    destination: { write(line: string): void },
    enabled: boolean,
    onResponse?: (told: Answered) => void,
  ) {
    this.#destination = destination;
    this.#enabled = enabled;
    this.#onResponse = onResponse;
  }

  write(told: Told): void {
    if (this.#onResponse && told.status !== null) this.#onResponse(told as Answered);
    if (!this.#enabled) return;
    const { requestId, method, route, status, durationMs, keyId, traceId } = told;
    this.#destination.write(
      `{"level":${INFO},"time":${Date.now()},"requestId":"${requestId}","method":${quoted(method)},` +
        `"route":${quoted(route)},"status":${status},"durationMs":${durationMs},"keyId":${keyId},` +
        `"traceId":${quoted(traceId)},"msg":"request"}\n`,
    );
  }
}

export function logRequests(server: FastifyInstance, requestLog: RequestLog): void {
  server.decorateRequest('isLogged', false);
  const log = (request: FastifyRequest, reply: FastifyReply) => {
    if (request.isLogged) return;
    request.isLogged = true;
    requestLog.write(told(request, reply));
  };
  // What the caller breaks off never finishes: a stream, mostly.
  server.addHook('onRequest', (request, reply, done) => {
    reply.raw.once('close', () => log(request, reply));
    done();
  });
  server.addHook('onResponse', (request, reply, done) => {
    log(request, reply);
    done();
  });
}

export function told(request: FastifyRequest, reply: FastifyReply): Told {
  return {
    requestId: request.id,
    method: request.method,
    route: request.operation?.path ?? null,
    status: reply.raw.headersSent ? reply.statusCode : null,
    durationMs: Math.round(reply.elapsedTime * 1_000) / 1_000,
    keyId: request.caller?.keyId ?? null,
    traceId: traceOf(request)?.traceId ?? null,
  };
}

function quoted(text: string | null): string {
  return text === null ? 'null' : `"${text}"`;
}
