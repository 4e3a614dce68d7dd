import { setTimeout } from 'node:timers/promises';
import getPort from 'get-port';

/** How many ports are tried, because another process can take a free port before the server does. */
const ATTEMPTS = 10;

/**
 * Starts a server on the `fixed` port, or on a free one, and returns the port. If `start` fails with a message that the port
 * is in use, another port is tried, or the fixed port again after a pause.
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

/**
 * Returns a port of 127.0.0.1 that was free a moment ago. No port is returned twice in this process, so that a server can
 * restart on its port.
 */
export function freePort(): Promise<number> {
  return getPort({ host: '127.0.0.1', reserve: true });
}
