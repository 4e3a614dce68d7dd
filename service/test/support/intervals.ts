import type { TestContext } from 'node:test';

interface Interval {
  run: () => void;
  delay: number;
}

/** The longest delay of a timer, in milliseconds: 24 days. */
const NEVER = 2 ** 31 - 1;

/** The intervals that are started during a test. They run as usual; a test can also run them itself. */
export class Intervals {
  readonly #running = new Map<unknown, Interval>();

  /** Watches until the test ends. Call it before the code that starts intervals. */
  static watch(t: TestContext): Intervals {
    return Intervals.#replace(t, delay => delay);
  }

  /** Like `watch`, but intervals run only when the test runs them: it sees what happens without them. */
  static hold(t: TestContext): Intervals {
    return Intervals.#replace(t, () => NEVER);
  }

  static #replace(t: TestContext, delayOf: (delay: number) => number): Intervals {
    const intervals = new Intervals();
    const { setInterval, clearInterval } = globalThis;
    // A mock of the test runner would keep the arguments of each call.
    t.after(() => Object.assign(globalThis, { setInterval, clearInterval }));
    Object.assign(globalThis, {
      setInterval: (run: () => void, delay: number) => {
        const timer = setInterval(run, delayOf(delay));
        intervals.#running.set(timer, { run, delay });
        return timer;
      },
      clearInterval: (timer: NodeJS.Timeout | undefined) => {
        intervals.#running.delete(timer);
        clearInterval(timer);
      },
    });
    return intervals;
  }

  /** The delays of the intervals that were not cleared, in milliseconds. */
  get delays(): number[] {
    return [...this.#running.values()].map(({ delay }) => delay);
  }

  /** Runs the intervals with this delay, in milliseconds, once. */
  run(delay: number): void {
    for (const interval of this.#running.values()) if (interval.delay === delay) interval.run();
  }
}
