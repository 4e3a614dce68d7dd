import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** Tries to find a port that nobody has taken before the server could. */
const ATTEMPTS = 10;

/**
 * Starts a server on the port given, or else on a free one, and answers with the port. `start` fails with the server's
 * own complaint when another has the port: then another one is tried, or the same again after a while.
 */
export async function startOnPort(
  fixed: number | undefined,
  start: (port: number) => Promise<void>,
): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = fixed ?? (await freePort());
    try {
      await start(port);
      return port;
    } catch (error) {
      const isTaken = /address already in use|port \d+ .*is in use/i.test((error as Error).message);
      if (!isTaken || attempt === ATTEMPTS) throw error;
      if (fixed !== undefined) await setTimeout(300);
    }
  }
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
