import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Drain } from './drain.ts';
import type { OwedResponses } from './gate/owed-responses.ts';

/**
 * How often idle connections of a server that no longer listens are closed, in milliseconds. New connections have this long
 * to send the first bytes of a request.
 */
const SWEEP_INTERVAL = 50;

/**
 * Lets a server that is being closed end as soon as it has sent the responses it owes. It does not wait for idle clients to
 * close their connections, nor for the first request on connections that browsers open in advance.
 */
export function closeConnectionsPromptly(server: FastifyInstance, drain: Drain, owed: OwedResponses): void {
  const { server: http } = server;
  const sockets = new Set<Socket>();
  http.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const closeIdle = http.closeIdleConnections.bind(http);
  // For node:http a connection is idle as soon as its last response was handed over, even if a slow reader has only a part.
  http.closeIdleConnections = () => {
    for (const socket of sockets) if (owed.areBeingSent(socket)) return;
    closeIdle();
  };
  server.addHook('preClose', async () => {
    drain.begin();
    // Again and again: node:http does so once, and a connection can become idle later without `Connection: close`.
    const sweeps = setInterval(() => {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      http.closeIdleConnections();
    }, SWEEP_INTERVAL);
    http.once('close', () => clearInterval(sweeps));
  });
}
