import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

/** What is told of a request: never a header, a body or a key, only the key's ID. Null is what could not be read. */
interface Told {
  requestId: string;
  method: string | null;
  /** The path template of the operation. */
  route: string | null;
  status: number;
  durationMs: number | null;
  keyId: number | null;
}

/** One line per request, once it is answered. */
export function logRequests(server: FastifyInstance, log: Logger): void {
  server.addHook('onResponse', (request, reply, done) => {
    logRequest(log, told(request, reply));
    done();
  });
}

export function logRequest(log: Logger, request: Told): void {
  log.info(request, 'request');
}

export function told(request: FastifyRequest, reply: FastifyReply): Told {
  return {
    requestId: request.id,
    method: request.method,
    route: request.operation?.path ?? null,
    status: reply.statusCode,
    durationMs: Math.round(reply.elapsedTime * 1_000) / 1_000,
    keyId: request.caller?.keyId ?? null,
  };
}
