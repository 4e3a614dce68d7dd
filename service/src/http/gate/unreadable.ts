import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError, type ErrorCode } from '../../contract/errors.ts';
import { SECOND } from '../../kit/clock.ts';
import type { RequestLog } from '../request-log.ts';
import { errorResponse } from '../respond.ts';
import type { Gate } from './gate.ts';
import { API_VERSION } from './negotiation.ts';
import type { RateLimitHeaders } from './rate-limit-answers.ts';

const codes: Record<string, [ErrorCode, string]> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The request line and headers are over 16 KiB (16,384 bytes)'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive completely within 30 seconds'],
};

/** How long the client may take to read the answer, in milliseconds: closing at once could cut it off. */
const LINGER = SECOND;

/** Answers a request that is not HTTP or never became whole, in the contract's shape, and ends the connection. */
export function answerUnreadable(
  error: NodeJS.ErrnoException,
  socket: Socket,
  gate: Gate,
  requestLog: RequestLog,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [code, message] = codes[error.code ?? ''] ?? [
    'invalid_request',
    `The request is not well-formed HTTP/1.1: ${error.message}`,
  ];
  refuseOnSocket(new ApiError(code, message), socket, gate, requestLog);
}

/** Tells of a refusal where there is no response to write to, and ends the connection. */
export function refuseOnSocket(refusal: ApiError, socket: Socket, gate: Gate, requestLog: RequestLog): void {
  const limits = gate.headersForUnreadable(socket.remoteAddress ?? '');
  if (limits instanceof Promise) void answerOnceTold(refusal, socket, limits, requestLog);
  else answerOnSocket(refusal, socket, limits, requestLog);
}

async function answerOnceTold(
  refusal: ApiError,
  socket: Socket,
  limits: Promise<RateLimitHeaders>,
  requestLog: RequestLog,
): Promise<void> {
  const { bytesWritten } = socket;
  // Without a listener a client that resets the connection meanwhile would end the process.
  socket.on('error', () => socket.destroy());
  const told = await limits;
  // The part that could be read may have been answered meanwhile: then that is the answer.
  if (socket.bytesWritten > bytesWritten) socket.end();
  else answerOnSocket(refusal, socket, told, requestLog);
}

function answerOnSocket(
  refusal: ApiError,
  socket: Socket,
  limits: RateLimitHeaders,
  requestLog: RequestLog,
): void {
  const requestId = randomUUID();
  const { status, body } = errorResponse(refusal, requestId);
  const headers = {
    'x-request-id': requestId,
    'api-version': API_VERSION,
    ...limits,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body!),
    'cache-control': 'no-store',
    connection: 'close',
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`);
  socket.setTimeout(LINGER, () => socket.destroy());
  requestLog.write({ requestId, method: null, route: null, status, durationMs: null, keyId: null });
}
