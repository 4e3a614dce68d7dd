import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../contract/errors.ts';
import { HEADERS_LIMIT } from '../contract/request-limits.ts';
import { API_VERSION } from '../contract/version.ts';
import { shownAddress } from '../kit/client-address.ts';
import { SECOND } from '../kit/clock.ts';
import { httpDate } from '../kit/dates.ts';
import { http } from '../kit/node-http.ts';
import { inBinaryUnitAndBytes, inWords } from '../kit/quantities.ts';
import type { RequestLimits } from './gate/request-limits.ts';
import type { OwedResponses } from './owed-responses.ts';
import type { RequestLog } from './request-log.ts';
import { errorResponse } from './respond.ts';
import type { HeaderPairs } from './send.ts';

interface UnreadableOptions {
  limits: RequestLimits;
  requestLog: RequestLog;
  owed: OwedResponses;
  /** How long a request may take to arrive, in milliseconds. */
  requestTimeout: number;
}

/** An error of the server's parser, with the bytes in which it occurred. */
interface ParserError extends NodeJS.ErrnoException {
  rawPacket?: unknown;
  /** The number of those bytes before the error. */
  bytesParsed?: number | undefined;
}

/** A request line, whatever its method (RFC 9112 §3, RFC 9110 §9.1). */
const REQUEST_LINE = /^[\w!#$%&'*+.^`|~-]+ [^ ]+ HTTP\/1\.[01]\r?$/;

/**
 * Whether the parser has rejected a request line only because it does not know the method (RFC 9110 §15.6.2). The whole line must
 * have arrived at once: the parser stops at the first letter that no known method has.
 */
function hasUnknownMethod({ code, message, rawPacket, bytesParsed = 0 }: ParserError): boolean {
  const isMethodOfRtsp = code === 'HPE_INVALID_CONSTANT' && message.includes('Invalid method for HTTP');
  if (!Buffer.isBuffer(rawPacket) || (code !== 'HPE_INVALID_METHOD' && !isMethodOfRtsp)) return false;
  const text = rawPacket.toString('latin1');
  const end = text.indexOf('\n', bytesParsed);
  return end >= 0 && REQUEST_LINE.test(text.slice(text.lastIndexOf('\n', bytesParsed - 1) + 1, end));
}

/** How long the client may take to read the error, in milliseconds: closing at once could cut the response off. */
const LINGER = SECOND;

/**
 * Rejects bytes that cannot be parsed as a request with an error of the contract, and ends the connection. Earlier requests
 * of the connection are complete, and may have been carried out: their responses are sent first.
 */
export class Unreadable {
  readonly #options: UnreadableOptions;
  readonly #rejected = new WeakSet<Socket>();

  constructor(options: UnreadableOptions) {
    this.#options = options;
  }

  watch(server: Server): void {
    // Not a documented option, but a property of node:http since its first versions.
    Object.assign(server, { httpAllowHalfOpen: true });
    server.on('connection', (socket: Socket) => {
      socket.on('end', () => this.#onEnd(socket));
    });
    server.on('timeout', socket => this.#closeUnlessBusy(socket));
  }

  /** Rejects bytes that are not HTTP, and incomplete requests. */
  onClientError(error: ParserError, socket: Socket): void {
    // The client disconnected in the middle of a body: the line of that request already logs it.
    const isLogged = error.code !== 'HPE_INVALID_EOF_STATE' || !this.#options.owed.toIncomplete(socket);
    if (!socket.destroyed) this.reject(this.#rejectionOf(error), socket, { isLogged });
  }

  /** Rejects a request that has no response object. */
  reject(rejection: ApiError, socket: Socket, { isLogged = true } = {}): void {
    // The parser reports each further chunk after it has failed.
    if (this.#rejected.has(socket)) return;
    this.#rejected.add(socket);
    // Without a listener, a reset of the connection would end the process.
    socket.on('error', () => socket.destroy());
    socket.on('timeout', () => this.#closeUnlessBusy(socket));
    socket.setTimeout(LINGER);
    const { limits, owed } = this.#options;
    const { remoteAddress = '' } = socket;
    const incomplete = owed.toIncomplete(socket);
    const earlier = owed.sent(socket, incomplete);
    const adding =
      earlier === undefined
        ? limits.headersForUnreadable(remoteAddress)
        : earlier.then(() => limits.headersForUnreadable(remoteAddress));
    const end = (limitHeaders: HeaderPairs) => {
      // The last request may have been rejected before its end arrived: that was its response.
      if (socket.writable && !incomplete?.headersSent)
        this.#writeRejection(rejection, socket, limitHeaders, isLogged);
      socket.end();
      // The end of a response sets the timeout to that of idle connections.
      socket.setTimeout(LINGER);
    };
    if (adding instanceof Promise) void adding.then(end);
    else end(adding);
  }

  /**
   * A client that ends its side of the connection has usually disconnected. As node:http does by default, this ends the
   * other side and drops the responses, except those of writes before stray bytes.
   */
  #onEnd(socket: Socket): void {
    if (!this.#rejected.has(socket) || !this.#options.owed.includeWrite(socket)) socket.end();
  }

  /** Closes an idle connection, unless it is the service that still makes a response. */
  #closeUnlessBusy(socket: Socket): void {
    if (socket.writable && this.#options.owed.areBeingMade(socket)) socket.setTimeout(socket.timeout ?? 0);
    else socket.destroy();
  }

  #rejectionOf(error: ParserError): ApiError {
    const { code, message } = error;
    if (code === 'HPE_HEADER_OVERFLOW') {
      return new ApiError(
        'headers_too_large',
        `The request line and headers are over ${inBinaryUnitAndBytes(HEADERS_LIMIT)}: send fewer or shorter headers, or a shorter URL`,
      );
    }
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
      const time = inWords(this.#options.requestTimeout);
      return new ApiError(
        'request_timeout',
        `The request did not arrive completely within ${time}: send it again`,
      );
    }
    if (hasUnknownMethod(error)) {
      return new ApiError(
        'method_not_implemented',
        'The service does not know the method of the request: use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS, in capital letters',
      );
    }
    return new ApiError('invalid_request', `The request is not well-formed HTTP/1.1: ${message}`);
  }

  #writeRejection(rejection: ApiError, socket: Socket, limits: HeaderPairs, isLogged: boolean): void {
    const requestId = randomUUID();
    const { code, status, body } = errorResponse(rejection, { id: requestId });
    const bytes = Buffer.byteLength(body);
    const headers = [
      ...['date', httpDate(Date.now())],
      ...['x-request-id', requestId],
      ...['api-version', API_VERSION],
      ...limits,
      ...['content-type', 'application/json; charset=utf-8'],
      ...['content-length', bytes],
      ...['cache-control', 'no-store'],
      ...['x-content-type-options', 'nosniff'],
      ...['connection', 'close'],
    ];
    const head = headers.map((part, i) => (i % 2 ? `${part}\r\n` : `${part}: `));
    socket.write(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`);
    if (!isLogged) return;
    this.#options.requestLog.write({
      requestId,
      method: null,
      path: null,
      route: null,
      status,
      code,
      bytes,
      durationMs: null,
      keyId: null,
      address: shownAddress(socket.remoteAddress ?? ''),
      userAgent: null,
      client: null,
      traceId: null,
    });
  }
}
