import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorCode } from '../contract/errors.ts';
import type { TrustedProxies } from '../kit/client-address.ts';
import { loggedText, MOST_LOGGED } from './log-text.ts';
import { traceOf } from './request-trace.ts';
import { pathOf } from './targets.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** When the head of the request was read, on the clock of `performance.now()`. */
    startedAt: number;
    /** The code of the error that the response has. */
    errorCode: ErrorCode | null;
    /** What counts the bytes of a stream of events. */
    stream: { readonly bytesSent: number } | undefined;
  }
}

/** What is logged of a request: no query, no body, no key but its ID, and one header. Null is what could not be read. */
export interface RequestRecord {
  requestId: string;
  method: string | null;
  /** As it was sent. */
  path: string | null;
  /** The path template of the operation. */
  route: string | null;
  /** Null when the client went away before the response. */
  status: number | null;
  code: ErrorCode | null;
  /** Of the response's body. */
  bytes: number;
  durationMs: number | null;
  keyId: number | null;
  /** Of the client; null when it was gone at once. */
  address: string | null;
  userAgent: string | null;
  /** Null when the request is part of no trace. */
  traceId: string | null;
}

/** The same of a request that has a response. */
export type Answered = RequestRecord & { status: number };

/** The most user agents that are kept in memory. */
const MOST_USER_AGENTS = 200;

/** pino's number for the level `info`. */
const INFO = 30;

/**
 * One line per request, as pino writes its lines. The line is put together here: it is the same every time, and a general
 * serializer takes a fifth of the time that a read takes as a whole. Only the path and the user agent may need escaping: a
 * request ID is taken over only when it is well-formed, methods are tokens of HTTP, an address is one, and the rest is ours.
 */
export class RequestLog {
  readonly #destination: { write(line: string): void };
  readonly #enabled: boolean;
  readonly #onResponse: ((told: Answered) => void) | undefined;
  /** User agents as they are logged: they are long, and few clients send most requests. */
  readonly #userAgents = new Map<string, string>();

  /** `onResponse` receives each request that has a response, whether it is logged or not. */
  constructor(
    destination: { write(line: string): void },
    enabled: boolean,
    onResponse?: (told: Answered) => void,
  ) {
    this.#destination = destination;
    this.#enabled = enabled;
    this.#onResponse = onResponse;
  }

  write(told: RequestRecord): void {
    if (this.#onResponse && isResponded(told)) this.#onResponse(told);
    if (!this.#enabled) return;
    const { requestId, method, path, route, status, code, bytes, durationMs, keyId, address } = told;
    const { userAgent, traceId } = told;
    this.#destination.write(
      `{"level":${INFO},"time":${Date.now()},"requestId":"${requestId}","method":${quoted(method)},` +
        `"path":${path === null ? 'null' : loggedText(path)},"route":${quoted(route)},"status":${status},` +
        `"code":${quoted(code)},"bytes":${bytes},"durationMs":${durationMs},"keyId":${keyId},` +
        `"address":${quoted(address)},"userAgent":${userAgent === null ? 'null' : this.#userAgent(userAgent)},` +
        `"traceId":${quoted(traceId)},"msg":"request"}\n`,
    );
  }

  #userAgent(userAgent: string): string {
    let logged = this.#userAgents.get(userAgent);
    if (logged === undefined) {
      logged = loggedText(userAgent);
      if (this.#userAgents.size >= MOST_USER_AGENTS) this.#userAgents.clear();
      if (userAgent.length <= MOST_LOGGED) this.#userAgents.set(userAgent, logged);
    }
    return logged;
  }
}

function isResponded(told: RequestRecord): told is Answered {
  return told.status !== null;
}

/** Logs every request of a server once: when its response is sent, or when the connection ends before that. */
export function logRequests(
  server: FastifyInstance,
  requestLog: RequestLog,
  trustedProxies: TrustedProxies,
): void {
  server.decorateRequest('startedAt', 0);
  server.decorateRequest('errorCode', null);
  server.decorateRequest('stream', undefined);
  // The framework's hook for sent responses would cost four listeners, and misses requests that their client gives up.
  server.addHook('onRequest', (request, reply, done) => {
    request.startedAt = performance.now();
    reply.raw.on('close', () => requestLog.write(told(request, reply, trustedProxies)));
    done();
  });
}

/** What is logged of a request whose response was sent or whose connection has ended. */
export function told(
  request: FastifyRequest,
  reply: FastifyReply,
  trustedProxies: TrustedProxies,
): RequestRecord {
  const { raw, headers } = request;
  const forwardedFor = headers['x-forwarded-for'];
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
    address: shownAddress(trustedProxies.clientAddress(raw.socket.remoteAddress ?? '', forwardedFor)),
    userAgent: headers['user-agent'] ?? null,
    traceId: traceOf(request)?.traceId ?? null,
  };
}

/** An address as it is logged: an IPv4 address without the prefix that it has on a socket of both versions. */
export function shownAddress(address: string): string | null {
  if (address === '') return null;
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
}

function bytesOf(request: FastifyRequest, reply: FastifyReply): number {
  if (request.stream) return request.stream.bytesSent;
  // A response to HEAD has the length that the body would have.
  if (!reply.raw.headersSent || request.method === 'HEAD') return 0;
  return request.bodyBytes;
}

function quoted(text: string | null): string {
  return text === null ? 'null' : `"${text}"`;
}
