/** The time that a client uses. Tests replace it; `now` is monotonic, so a wrong clock of the machine changes nothing. */
export interface Clock {
  /** Milliseconds since any fixed instant. */
  now: () => number;
  /** Calls `run` after some milliseconds, at the latest after 24 days. Returns a function that cancels the call. */
  after: (milliseconds: number, run: () => void) => () => void;
  /** A random number from 0 to 1. */
  random: () => number;
}

/** The longest delay of a timer. With a longer one it would run at once. */
const MAX_DELAY = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (milliseconds, run) => {
    const timer = setTimeout(run, Math.min(milliseconds, MAX_DELAY));
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

/** Resolves after some milliseconds. Throws the reason of the signal as soon as it is aborted. */
export function sleep(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  let cancelTimer = () => {};
  let ignoreSignal = () => {};
  const end = new Promise<void>((resolve, reject) => {
    cancelTimer = clock.after(milliseconds, resolve);
    ignoreSignal = onAbort(signal, () => reject(signal?.reason));
  });
  return end.finally(() => {
    cancelTimer();
    ignoreSignal();
  });
}

/** Calls `run` when the signal is aborted, at once if it is. Returns a function that prevents the call. */
export function onAbort(signal: AbortSignal | undefined, run: () => void): () => void {
  signal?.addEventListener('abort', run);
  if (signal?.aborted) run();
  return () => signal?.removeEventListener('abort', run);
}
