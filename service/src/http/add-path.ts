import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from 'fastify';
import type { Method } from '../contract/operation.ts';
import type { Gate, Gated } from './gate/gate.ts';
import { routerPath } from './targets.ts';

/** A path of the server with one of its methods: an operation of the contract, a page or an asset. */
export interface ServedPath {
  /** `HEAD` is served wherever `GET` is. */
  method: Method;
  gated: Gated;
  /** The maximum size of the body in bytes if it is not `BODY_LIMIT`. */
  bodyLimit?: number | undefined;
  handler(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

/** Adds a path behind the gate. No other function does, so that no path lacks a part of what every path needs. */
export function addPath(
  server: FastifyInstance,
  gate: Gate,
  { method, gated, bodyLimit, handler }: ServedPath,
): void {
  server.route({
    method: method === 'GET' ? ['GET', 'HEAD'] : method,
    url: routerPath(gated.path),
    onRequest: (request, _reply, done) => {
      try {
        const waiting = gate.pass(request, gated);
        if (waiting !== undefined) return waiting;
      } catch (rejection) {
        // In a later turn: if the rest of these bytes is malformed, the response must report that.
        return Promise.reject(rejection);
      }
      return done();
    },
    ...(method !== 'GET' && { preParsing: letEmptyBodiesEnd }),
    ...(bodyLimit !== undefined && { bodyLimit }),
    handler,
  });
}

/**
 * Replaces the stream of a request with a Content-Type but no body: `node:http` has already ended it, and a parser that waits
 * for its end would wait forever.
 */
function letEmptyBodiesEnd(
  _request: FastifyRequest,
  _reply: FastifyReply,
  body: RequestPayload,
  done: (error: null, body: RequestPayload) => void,
): void {
  done(null, body.readableEnded ? Readable.from([]) : body);
}
