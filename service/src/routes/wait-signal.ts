import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    /** Aborts when the server starts to close: long polls must return then. */
    endOfWaiting: AbortController;
  }
}

/** Ends long polls when the server starts to close. */
export function endWaitsAtClose(server: FastifyInstance): void {
  server.decorate('endOfWaiting', new AbortController());
  server.addHook('preClose', async () => server.endOfWaiting.abort());
}

/** Returns a signal that aborts when the client disconnects, and when the server starts to close. */
export function signalOf(request: Pick<FastifyRequest, 'server'>, { raw }: FastifyReply): AbortSignal {
  const disconnected = new AbortController();
  if (raw.destroyed) disconnected.abort();
  else raw.once('close', () => disconnected.abort());
  return AbortSignal.any([disconnected.signal, request.server.endOfWaiting.signal]);
}
