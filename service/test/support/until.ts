import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for what comes by itself, at most ten seconds: with Redis counts are stored every five. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`It did not come about that ${what}`);
    await sleep(10);
  }
}
