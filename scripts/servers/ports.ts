import { setTimeout } from 'node:timers/promises';
import getPort from 'get-port';

/** Tries to find a port that no other process takes before the server does. */
const ATTEMPTS = 10;

/**
 * Starts a server on the port given, or else on a free one, and returns the port. `start` fails with the server's own
 * complaint when another process has the port: then another one is tried, or the same again after a while.
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
 * A port of 127.0.0.1 that was free a moment ago. This process gets each port once: a server that restarts finds its
 * own again.
 */
export function freePort(): Promise<number> {
  return getPort({ host: '127.0.0.1', reserve: true });
}
