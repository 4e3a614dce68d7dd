import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether connections end with their next response, because the server is being closed. */
    closing: boolean;
  }
}

/**
 * Lets a server that is being closed end as soon as it has answered what is in flight. Without this it would wait for
 * clients to drop their connections: those that were just answered, and those on which nothing was ever asked, as
 * browsers open them in advance.
 */
export function closeConnectionsPromptly(server: FastifyInstance): void {
  const sockets = new Set<Socket>();
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.decorate('closing', false);
  server.addHook('preClose', async () => {
    server.closing = true;
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  });
}
