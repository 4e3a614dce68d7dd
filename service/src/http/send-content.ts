import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Content, encodingFor } from '../kit/content.ts';
import { isNotModified } from '../routes/conditional.ts';
import { sendWhole } from './send.ts';

/** Sends content in the best encoding that the client accepts, or 304 if the client has it already. */
export async function sendContent(
  request: FastifyRequest,
  reply: FastifyReply,
  content: Content,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const encoding = encodingFor(request.headers['accept-encoding']);
  const etag = content.etag(encoding);
  const all: Record<string, string> = { ...headers, etag, vary: 'accept-encoding' };
  if (isNotModified(request.headers, etag)) return sendWhole(request, reply, 304, all);
  if (encoding !== 'identity') all['content-encoding'] = encoding;
  all['content-type'] = content.type;
  return sendWhole(request, reply, 200, all, await content.encoded(encoding));
}
