import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Content } from '../kit/content.ts';
import { isNotModified } from '../routes/conditional.ts';
import { sendWhole } from './send.ts';

/** Sends content in the best encoding that the client accepts, or 304 if the client has it already. `vary` names the request headers
 * that choose the content. */
export async function sendContent(
  request: FastifyRequest,
  reply: FastifyReply,
  content: Content,
  headers: Readonly<Record<string, string>>,
  vary = 'accept-encoding',
): Promise<void> {
  const encoding = content.encodingFor(request.headers['accept-encoding']);
  const etag = content.etag(encoding);
  const all: Record<string, string> = { ...headers, etag, vary };
  if (isNotModified(request.headers, etag)) return sendWhole(request, reply, 304, all);
  if (encoding !== 'identity') all['content-encoding'] = encoding;
  all['content-type'] = content.type;
  return sendWhole(request, reply, 200, all, await content.encoded(encoding));
}
