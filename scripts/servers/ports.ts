import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import getPort from 'get-port';

/**
 * Linux and macOS choose higher ports for connections, and for servers that accept any port. One of theirs could be taken before
 * our server listens, or while it is down. The 10,000 ports after this range are as safe: a node of a Redis cluster also
 * listens there.
 */
const [FIRST, END] = [12_000, 22_000];

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
 * restart on its port. Other processes choose theirs at random from the same range.
 */
export function freePort(): Promise<number> {
  const candidates = Array.from({ length: ATTEMPTS }, () => randomInt(FIRST, END));
  return getPort({ host: '127.0.0.1', port: candidates, reserve: true });
}
