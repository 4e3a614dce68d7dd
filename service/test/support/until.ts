import { setTimeout as sleep } from 'node:timers/promises';

/** Seconds. With Redis counts are stored every five. */
const TIMEOUT = 10;

/**
 * Waits until a condition holds, for at most `seconds`. Throws an error that names the condition when it does not hold by
 * then: a wait without a deadline would end as a timeout of the whole test, which names nothing.
 */
export async function until(
  condition: string,
  holds: () => boolean | Promise<boolean>,
  seconds = TIMEOUT,
): Promise<void> {
  const deadline = performance.now() + seconds * 1_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Waited ${seconds} s in vain until ${condition}`);
    await sleep(10);
  }
}

/** Waits for a promise, for at most `seconds`. Throws an error that names the event when it has not resolved by then. */
export async function inTime<T>(event: string, promise: Promise<T>, seconds = 120): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`Waited ${seconds} s in vain for ${event}`)),
    seconds * 1_000,
  );
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
