import type { FastifyReply, FastifyRequest } from 'fastify';

/** Names and values of headers, alternating: the form that `node:http` writes without copies and look-ups. */
export type HeaderPairs = (string | number)[];

declare module 'fastify' {
  interface FastifyRequest {
    /** Headers that the response has in any case; `undefined` before the gate. */
    head: HeaderPairs | undefined;
    /** The length of the response's body, or of the body that a response to HEAD leaves out. */
    bodyBytes: number;
  }
}

/**
 * Sends a whole response in one write. The framework would copy each header, check the body's type and parse its media type;
 * `hijack` makes it leave the response alone. The handler must return nothing: the framework would wait for a returned `reply`.
 */
export function sendWhole(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  headers: Readonly<Record<string, string>>,
  body?: string | Buffer,
): void {
  // Another response was sent instead, because this one took too long.
  if (request.isOverdue && reply.raw.headersSent) return;
  const pairs = completedHead(request, headers);
  if (body !== undefined) {
    request.bodyBytes = Buffer.byteLength(body);
    pairs.push('content-length', request.bodyBytes);
  }
  reply.raw.writeHead(status, pairs);
  reply.hijack();
  reply.raw.end(body);
}

/** Adds a response's own headers to those that every response has. It does not copy the list: a request has one response. */
export function completedHead(
  request: FastifyRequest,
  headers: Readonly<Record<string, string>>,
): HeaderPairs {
  const pairs = request.head ?? [];
  for (const name in headers) pairs.push(name, headers[name]!);
  return pairs;
}
