import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Drain } from './drain.ts';
import type { OwedResponses } from './owed-responses.ts';

/**
 * How often idle connections of a server that no longer listens are closed, in milliseconds. New connections have at least this
 * long to send the first bytes of a request.
 */
const SWEEP_INTERVAL = 50;

/**
 * Makes a closing server end as soon as it has sent the responses it owes. It does not wait until idle clients close their
 * connections, nor for the first request on connections that browsers open in advance.
 */
export function closeConnectionsPromptly(server: FastifyInstance, drain: Drain, owed: OwedResponses): void {
  const { server: http } = server;
  const sockets = new Set<Socket>();
  http.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const closeIdle = http.closeIdleConnections.bind(http);
  // node:http treats a connection as idle when its last response was written, even if a slow client has read only a part.
  http.closeIdleConnections = () => {
    for (const socket of sockets) if (owed.areBeingSent(socket)) return;
    closeIdle();
  };
  server.addHook('preClose', async () => {
    drain.begin();
    let silent: Socket[] = [];
    // Repeatedly: node:http does it once, but a connection can become idle later without `Connection: close`.
    const sweeps = setInterval(() => {
      // Only those of the previous sweep: when the process gets little time, the bytes of later ones may have arrived unread.
      for (const socket of silent) if (socket.bytesRead === 0) socket.destroy();
      silent = [...sockets].filter(({ bytesRead }) => bytesRead === 0);
      http.closeIdleConnections();
    }, SWEEP_INTERVAL);
    http.once('close', () => clearInterval(sweeps));
  });
}
