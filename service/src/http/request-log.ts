import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

/** One line per request, once it is answered: never a header, a body or a key, only the key's ID. */
export function logRequests(server: FastifyInstance, log: Logger): void {
  server.addHook('onResponse', (request, reply, done) => {
    log.info(
      {
        requestId: request.id,
        method: request.method,
        route: request.operation?.path ?? null,
        status: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime * 1_000) / 1_000,
        keyId: request.caller?.keyId ?? null,
      },
      'request',
    );
    done();
  });
}
