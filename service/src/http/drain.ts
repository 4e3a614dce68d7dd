import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { http } from '../kit/node-http.ts';
import type { ConnectionLimiter } from './connection-limits.ts';
import type { OwedResponses } from './owed-responses.ts';

/**
 * The time between the signal to stop and the end of listening. Requests are served as before, but `/readyz` returns 503 and
 * each connection ends with its next response, so that proxies move their traffic to other replicas.
 */
export class Drain {
  #hasBegun = false;

  begin(): void {
    this.#hasBegun = true;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }
}

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/**
 * The class of a server's responses. During a drain, and on a connection over a limit, the response to the newest request of a
 * connection has `Connection: close`. Earlier responses must not have it: later requests were already received and may have been carried
 * out, and the first response with this header ends the connection (RFC 9112 §9.6).
 */
export function responseClass(
  drain: Drain,
  owed: OwedResponses,
  limiter: Pick<ConnectionLimiter, 'isExcess'>,
): typeof ServerResponse {
  return class DrainableResponse<
    Request extends IncomingMessage = IncomingMessage,
  > extends http.ServerResponse<Request> {
    /** Set by each request. Declared here, so that all responses have the same hidden class. */
    override reply: FastifyReply | undefined = undefined;

    override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
      if (drain.hasBegun || limiter.isExcess(this.req.socket)) {
        if (owed.endWith(this)) this.setHeader('connection', 'close');
        // The framework sets it on every response while the server closes.
        else this.removeHeader('connection');
      }
      return typeof reason === 'string'
        ? super.writeHead(status, reason, headers)
        : super.writeHead(status, reason ?? headers);
    }
  };
}
