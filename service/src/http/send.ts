import type { FastifyReply, FastifyRequest } from 'fastify';
import { Head } from './head.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Headers that the response has in any case; `undefined` before the gate. */
    head: Head | undefined;
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
  if (body !== undefined) request.bodyBytes = Buffer.byteLength(body);
  writeHead(request, reply, status, headers, body === undefined ? [] : ['content-length', request.bodyBytes]);
  reply.hijack();
  reply.raw.end(body);
}

/**
 * Writes the head of a response: the headers that it has in any case, and its own. A response has one head. `framing` are the headers
 * by which node:http determines where the response ends, as names and values in turn: it must read these itself.
 */
export function writeHead(
  request: FastifyRequest,
  { raw }: FastifyReply,
  status: number,
  headers: Readonly<Record<string, string>>,
  framing: (string | number)[],
): void {
  const head = request.head ?? new Head();
  for (const name in headers) head.add(name, headers[name]!);
  raw.headLines = head.lines;
  raw.writeHead(status, framing);
}
