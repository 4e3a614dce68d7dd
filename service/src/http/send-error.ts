import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { ApiError } from '../contract/errors.ts';
import { DatabaseUnavailable } from '../db/database.ts';
import { ResponseClosed } from '../routes/wait-signal.ts';
import type { OutageLog } from './outage-log.ts';
import { traceOf } from './request-trace.ts';
import { errorResponse, send } from './respond.ts';

export interface ErrorLogs {
  log: Logger;
  outageLog: OutageLog;
}

/** Sends the response to a request that failed, and logs what only an operator can correct. */
export function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { log, outageLog }: ErrorLogs,
): void {
  // The client has the response of the deadline, whose function logs the failure.
  if (request.isOverdue && reply.raw.headersSent) return;
  if (error instanceof ResponseClosed) {
    reply.hijack();
    return;
  }
  const response = errorResponse(error, request);
  request.errorCode = response.code;
  const traceId = traceOf(request)?.traceId;
  if (error instanceof DatabaseUnavailable) outageLog.writeRequest(request.id, error);
  // An `ApiError` is not an internal error.
  else if (response.status >= 500 && !(error instanceof ApiError))
    log.error({ requestId: request.id, traceId, err: error }, 'Request failed');
  // After a body that was not read completely, the framework sets `Connection: close`. Whether this response can be the last of
  // its connection is decided when it is sent (drain.ts).
  const { connection } = reply.getHeaders();
  if (connection !== undefined) reply.raw.setHeader('connection', String(connection));
  send(request, reply, response);
}
