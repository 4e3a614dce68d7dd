import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

/**
 * Starts a server on a free port of 127.0.0.1, and closes it with its connections when the test ends. Returns its origin. A server of
 * HTTP keeps idle connections, because a slow client would use one while the server closes it.
 */
export async function listenLocally(t: { after(close: () => void): void }, server: Server): Promise<string> {
  if (server instanceof HttpServer) server.keepAliveTimeout = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.close();
    if (server instanceof HttpServer) server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
