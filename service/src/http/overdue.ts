import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../contract/errors.ts';
import { inWords } from '../kit/quantities.ts';
import type { RequestLimits } from './gate/request-limits.ts';
import { traceOf } from './request-trace.ts';
import { type ErrorLogs, sendError } from './send-error.ts';
import { headersInDoubt } from './should-retry.ts';

/** Responds to a request whose response took too long. Its handler may still end: what it sends then is ignored. */
export async function sendOverdue(
  reply: FastifyReply,
  limits: RequestLimits,
  limit: number,
  options: ErrorLogs & { onOverdue?: (() => void) | undefined },
): Promise<void> {
  const { request } = reply;
  const { log, onOverdue } = options;
  const { id: requestId, method, operation } = request;
  const traceId = traceOf(request)?.traceId;
  const line = { requestId, traceId, method, route: operation?.path ?? null };
  log.error(line, `No response within ${inWords(limit)}`);
  onOverdue?.();
  // The framework logs it when a handler fails after the response.
  reply.log = log.child({ requestId, traceId }, { msgPrefix: 'Request failed after its deadline: ' });
  try {
    await limits.completeHead(request);
    // The gate or the handler may have ended meanwhile.
    if (reply.raw.headersSent) return;
    sendError(overdue(request, limit), request, reply, options);
    request.passing?.catch(err => {
      if (!(err instanceof ApiError)) reply.log.error({ err }, 'The gate failed');
    });
  } catch (error) {
    log.error({ requestId, traceId, err: error }, 'No response could be sent');
    reply.raw.destroy();
  }
}

function overdue(request: FastifyRequest, limit: number): ApiError {
  return new ApiError(
    'service_unavailable',
    `The service did not respond within ${inWords(limit)}, and may still carry out the request. Check before you send it again; ` +
      'with an Idempotency-Key it is safe to send it again unchanged',
    headersInDoubt(request),
  );
}
