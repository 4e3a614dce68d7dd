import type { FastifyReply, FastifyRequest } from 'fastify';
import { methods } from '../contract/operation.ts';
import { parseTraceparent, type TraceContext } from '../kit/trace-context.ts';
import type { Span, Tracing } from '../kit/tracing.ts';
import { maskedText } from './log-text.ts';
import { pathOf } from './targets.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** `undefined` while no spans are exported. */
    span: Span | undefined;
  }
}

/**
 * The trace of a request: that of its span, or the one in the client's `traceparent`. While nothing is exported, a request
 * without `traceparent` has no trace: a new one would be marked `not sampled`, and receivers of its events would then not
 * record their own spans.
 */
export function traceOf({ span, headers }: FastifyRequest): TraceContext | undefined {
  return span ? span.context : parseTraceparent(headers.traceparent);
}

/** Records every request as a span. */
export class RequestSpans {
  readonly #tracing: Tracing;

  constructor(tracing: Tracing) {
    this.#tracing = tracing;
  }

  /** Starts the span of a request, which ends with the response. */
  begin(request: FastifyRequest, reply: FastifyReply): void {
    const { traceparent, tracestate } = request.headers;
    const span = this.#tracing.begin(methodOf(request), {
      kind: 'server',
      parent: parseTraceparent(traceparent),
      traceState: tracestate,
      attributes: () => this.#attributesOf(request),
    });
    request.span = span;
    if (span.isRecorded) reply.raw.once('close', () => endSpan(span, request, reply));
  }

  /** No query, and no header that can contain a key. */
  #attributesOf(request: FastifyRequest) {
    const { headers, raw } = request;
    const method = methodOf(request);
    return {
      'http.request.method': method === 'HTTP' ? '_OTHER' : method,
      'http.request.method_original': method === 'HTTP' ? request.method : undefined,
      'url.path': maskedText(pathOf(request.url)),
      'url.scheme': 'http',
      'network.protocol.version': raw.httpVersion,
      'client.address': request.address,
      'user_agent.original':
        headers['user-agent'] === undefined ? undefined : maskedText(headers['user-agent']),
      'petstore.request.id': request.id,
    };
  }
}

function endSpan(span: Span, request: FastifyRequest, reply: FastifyReply): void {
  const route = request.operation?.path;
  if (route !== undefined) span.rename(`${methodOf(request)} ${route}`);
  const status = reply.raw.headersSent ? reply.raw.statusCode : undefined;
  span.set({
    'http.route': route,
    'http.response.status_code': status,
    'petstore.key.id': request.caller?.keyId,
  });
  // Only failures of the server are errors of a server span. Without a status the client has disconnected.
  if (status === undefined) span.end('aborted');
  else span.end(status >= 500 ? String(status) : undefined);
}

const knownMethods: ReadonlySet<string> = new Set([...methods, 'HEAD', 'OPTIONS']);

/** The method in the names of spans. Unknown methods are `HTTP`, because a client can send any number of them, of any length. */
function methodOf({ method }: FastifyRequest): string {
  return knownMethods.has(method) ? method : 'HTTP';
}
