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

/** Ends work for a response that can no longer be sent: its client has disconnected, or has the 503 of the deadline. Nothing has failed. */
export class ResponseClosed extends Error {
  constructor() {
    super('The response can no longer be sent');
  }
}

/** The signals of responses. A page that is read in slices asks for the signal of its response with each slice. */
const signals = new WeakMap<FastifyReply['raw'], AbortSignal>();

/** Returns a signal that aborts with `ResponseClosed` when the response can no longer be sent. */
export function closeOf({ raw }: FastifyReply): AbortSignal {
  const known = signals.get(raw);
  if (known) return known;
  const closed = new AbortController();
  const abort = () => closed.abort(new ResponseClosed());
  if (raw.destroyed) abort();
  else raw.once('close', abort);
  signals.set(raw, closed.signal);
  return closed.signal;
}

/** Returns a signal that aborts when the client disconnects, and when the server starts to close. */
export function signalOf(request: Pick<FastifyRequest, 'server'>, reply: FastifyReply): AbortSignal {
  return AbortSignal.any([closeOf(reply), request.server.endOfWaiting.signal]);
}
