import { setTimeout as sleep } from 'node:timers/promises';

/** Seconds. On a busy machine a process alone may take more than ten to start. */
const TIMEOUT = 60;

/**
 * Waits until a condition holds, for at most a minute, and then throws an error that names the condition. A wait without a
 * deadline would end with a timeout of the whole test, whose message does not name it.
 */
export async function until(condition: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + TIMEOUT * 1_000;
  while (!(await holds())) {
    if (performance.now() > deadline)
      throw new Error(`Waited ${TIMEOUT} s until ${condition}, which did not happen`);
    await sleep(10);
  }
}

/** Waits for a promise, for at most `seconds`, and then throws an error that names the event. */
export async function inTime<T>(event: string, promise: Promise<T>, seconds = 120): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`Waited ${seconds} s for ${event}, which did not happen`)),
    seconds * 1_000,
  );
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
