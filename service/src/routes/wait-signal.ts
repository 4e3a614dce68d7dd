import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    /** Aborted when the server begins to close: requests that only wait are to return now. */
    endOfWaiting: AbortController;
  }
}

/** Ends long polls when the server begins to close. */
export function endWaitsAtClose(server: FastifyInstance): void {
  server.decorate('endOfWaiting', new AbortController());
  server.addHook('preClose', async () => server.endOfWaiting.abort());
}

/** Aborted when the client disconnects, and when the server begins to close. */
export function signalOf(request: FastifyRequest, { raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  if (raw.destroyed) gone.abort();
  else raw.once('close', () => gone.abort());
  return AbortSignal.any([gone.signal, request.server.endOfWaiting.signal]);
}
