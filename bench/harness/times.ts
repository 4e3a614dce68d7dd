import { setTimeout as sleep } from 'node:timers/promises';

/** Returns how long some work takes. */
export async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/**
 * Repeats a request until `work` ends, with random pauses of up to `pause` milliseconds: otherwise every request would come directly
 * after the end of another. Returns how long each took.
 */
export async function timesDuring(
  work: Promise<unknown>,
  request: () => Promise<unknown>,
  pause = 0,
): Promise<number[]> {
  let isOver = false;
  const times: number[] = [];
  const repeat = async () => {
    while (!isOver) {
      times.push(await milliseconds(request));
      if (pause > 0) await sleep(Math.random() * pause);
    }
  };
  const ended = work.finally(() => {
    isOver = true;
  });
  await Promise.all([ended, repeat()]);
  return times;
}
