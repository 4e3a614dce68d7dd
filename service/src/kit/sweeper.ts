import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from './clock.ts';

/**
 * Deletes one slice of the data that has expired at `now`, in milliseconds since the Unix epoch, within a few milliseconds.
 * Resolves with whether more may remain.
 */
export type Sweep = (now: number) => Promise<boolean>;

interface SweeperOptions {
  /** The sweeps, by the names under which failures are reported. */
  sweeps: Readonly<Record<string, Sweep>>;
  clock: Clock;
  /** Called when a sweep fails. The other sweeps continue, and the next round retries it. */
  onError: (name: string, error: unknown) => void;
}

/** Runs sweeps in rounds, one slice at a time, so that requests are served between slices. */
export class Sweeper {
  readonly #options: SweeperOptions;
  readonly #lastSuccess: Map<string, number | undefined>;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(options: SweeperOptions) {
    this.#options = options;
    this.#lastSuccess = new Map(Object.keys(options.sweeps).map(name => [name, undefined]));
  }

  /** When each sweep last completed, in milliseconds since the Unix epoch; `undefined` if it never did. */
  get lastSuccess(): ReadonlyMap<string, number | undefined> {
    return this.#lastSuccess;
  }

  /** Runs a round now and then one every `interval` milliseconds. */
  start(interval: number): void {
    this.#timer = setInterval(() => {
      if (!this.#running) void this.run();
    }, interval);
    this.#timer.unref();
    void this.run();
  }

  /**
   * Runs a round, after the running one: that one may miss data that has expired since its start. Never rejects.
   */
  async run(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    this.#running = this.#round().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  /** Ends the running round after its current slice. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  async #round(): Promise<void> {
    const now = this.#options.clock.now();
    for (const [name, sweep] of Object.entries(this.#options.sweeps)) {
      try {
        let isMore = true;
        while (!this.#closed && isMore) {
          isMore = await sweep(now);
          if (isMore) await nextTurn();
        }
        if (!isMore) this.#lastSuccess.set(name, this.#options.clock.now());
      } catch (error) {
        this.#options.onError(name, error);
      }
    }
  }
}
