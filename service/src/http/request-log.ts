import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorCode } from '../contract/error-catalogue.ts';
import { shownAddress } from '../kit/client-address.ts';
import { type LineSink, LogLine } from '../kit/log-line.ts';
import { loggedText, MAX_LOGGED } from './log-text.ts';
import { traceOf } from './request-trace.ts';
import { pathOf } from './targets.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** When the head of the request was read, on the clock of `performance.now()`. */
    startedAt: number;
    /** The error code of the response; null without an error. */
    errorCode: ErrorCode | null;
    /** Counts the bytes of a stream of events; `undefined` for other responses. */
    stream: { readonly bytesSent: number } | undefined;
  }
}

/** The log record of a request: no query, no body, no key except its ID, and one header. A field that could not be read is null. */
export interface RequestRecord {
  requestId: string;
  method: string | null;
  /** As it was sent. */
  path: string | null;
  /** The path template of the operation. */
  route: string | null;
  /** Null when the client disconnected before the response. */
  status: number | null;
  code: ErrorCode | null;
  /** The length of the response's body. */
  bytes: number;
  durationMs: number | null;
  keyId: number | null;
  /** The client's address; null when it disconnected at once. */
  address: string | null;
  userAgent: string | null;
  /** What the program of the client calls itself: its user agent, unless a browser sets that. It is not logged. */
  client: string | null;
  /** Null when the request is part of no trace. */
  traceId: string | null;
}

/** The record of a request that has a response. */
type RespondedRecord = RequestRecord & { status: number };

/** The maximum number of user agents that are cached. */
const MAX_USER_AGENTS = 200;

/**
 * Writes one line per request, in pino's format. This class builds the line itself, because a general serializer takes a fifth
 * of the time of a whole read request. Only the path and the user agent may need escaping: a client's request ID is used only
 * when it is well-formed, methods and addresses have no special characters, and the service sets the rest.
 */
export class RequestLog {
  readonly #sink: LineSink;
  readonly #enabled: boolean;
  readonly #onResponse: ((record: RespondedRecord) => void) | undefined;
  readonly #line = new LogLine();
  /** User agents in their logged form: they are long, and few clients send most requests. */
  readonly #userAgents = new Map<string, string>();

  /** `onResponse` receives each request that has a response, whether it is logged or not. */
  constructor(sink: LineSink, enabled: boolean, onResponse?: (record: RespondedRecord) => void) {
    this.#sink = sink;
    this.#enabled = enabled;
    this.#onResponse = onResponse;
  }

  write(record: RequestRecord): void {
    if (this.#onResponse && hasResponse(record)) this.#onResponse(record);
    if (!this.#enabled) return;
    const { path, userAgent } = record;
    // 30 is pino's number for the level `info`.
    this.#line
      .integer('{"level":30,"time":', Date.now())
      .quoted(',"requestId":', record.requestId)
      .quoted(',"method":', record.method)
      .quoted(',"path":', path === null ? null : loggedText(path))
      .quoted(',"route":', record.route)
      .integer(',"status":', record.status)
      .quoted(',"code":', record.code)
      .integer(',"bytes":', record.bytes)
      .decimal(',"durationMs":', record.durationMs)
      .integer(',"keyId":', record.keyId)
      .quoted(',"address":', record.address)
      .quoted(',"userAgent":', userAgent === null ? null : this.#userAgent(userAgent))
      .quoted(',"traceId":', record.traceId)
      .text(',"msg":"Request"}\n')
      .end(this.#sink);
  }

  #userAgent(userAgent: string): string {
    let logged = this.#userAgents.get(userAgent);
    if (logged === undefined) {
      logged = loggedText(userAgent);
      if (this.#userAgents.size >= MAX_USER_AGENTS) this.#userAgents.clear();
      if (userAgent.length <= MAX_LOGGED) this.#userAgents.set(userAgent, logged);
    }
    return logged;
  }
}

function hasResponse(record: RequestRecord): record is RespondedRecord {
  return record.status !== null;
}

/** The log record of a request whose response was sent or whose connection has ended. */
export function recordOf(request: FastifyRequest, reply: FastifyReply): RequestRecord {
  const { headers } = request;
  return {
    requestId: request.id,
    method: request.method,
    path: pathOf(request.url),
    route: request.operation?.path ?? null,
    status: reply.raw.headersSent ? reply.statusCode : null,
    code: request.errorCode,
    bytes: bytesOf(request, reply),
    durationMs: Math.round((performance.now() - request.startedAt) * 1_000) / 1_000,
    keyId: request.caller?.keyId ?? null,
    address: shownAddress(request.address),
    userAgent: headers['user-agent'] ?? null,
    client: (headers['x-petstore-client'] as string | undefined) ?? headers['user-agent'] ?? null,
    traceId: traceOf(request)?.traceId ?? null,
  };
}

function bytesOf(request: FastifyRequest, reply: FastifyReply): number {
  if (request.stream) return request.stream.bytesSent;
  // A response to HEAD has the length that the body would have.
  if (!reply.raw.headersSent || request.method === 'HEAD') return 0;
  return request.bodyBytes;
}
