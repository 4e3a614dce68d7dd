import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../contract/errors.ts';
import { preflightHeaders } from './gate/cross-origin.ts';
import type { Gate } from './gate/gate.ts';
import { shown } from './quoting.ts';
import { send } from './respond.ts';

/** Whether this is a preflight request: a browser asks whether it may send another request (Fetch §3.2.2). */
export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

/**
 * Responds to a preflight request, which has no key and uses no quota. The response does not depend on the path, so that a page
 * can read the 404 for one that does not exist. Throws `origin_not_allowed`, which a developer sees in the browser's tools.
 */
export async function respondToPreflight(
  request: FastifyRequest,
  reply: FastifyReply,
  gate: Gate,
): Promise<void> {
  await gate.passUncounted(request);
  if (!request.isReadable) {
    throw new ApiError(
      'origin_not_allowed',
      `No publishable key allows the origin ${shown(request.headers.origin)}: ask an administrator to add it to the ` +
        'origins of the key that the page uses',
    );
  }
  send(request, reply, { status: 204, headers: { ...preflightHeaders } });
}
