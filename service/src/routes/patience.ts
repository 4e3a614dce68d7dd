import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    /** Aborted when the server begins to close: what only waits is to answer now. */
    endOfWaiting: AbortController;
  }
}

/** Tells those who wait for something to happen when they need not wait any more. */
export function endWaitsAtClose(server: FastifyInstance): void {
  server.decorate('endOfWaiting', new AbortController());
  server.addHook('preClose', async () => server.endOfWaiting.abort());
}

/** Aborted when nobody waits for the answer any more, and when the server begins to close. */
export function signalOf(request: FastifyRequest, { raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  if (raw.destroyed) gone.abort();
  else raw.once('close', () => gone.abort());
  return AbortSignal.any([gone.signal, request.server.endOfWaiting.signal]);
}
