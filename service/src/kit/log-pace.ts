import { type Clock, SECOND } from './clock.ts';

/** Limits a log line to one per second, or another interval, without losing the last one, for events that can happen with every request. */
export class LogPace {
  readonly #clock: Clock;
  readonly #write: () => void;
  readonly #interval: number;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #isPending = false;

  /** `write` logs the events since its previous call. `interval` is in milliseconds. */
  constructor(clock: Clock, write: () => void, interval = SECOND) {
    this.#clock = clock;
    this.#write = write;
    this.#interval = interval;
  }

  /** Writes the line now, or by `tick` when the interval has passed since the previous line. */
  request(): void {
    this.#isPending = true;
    this.tick();
  }

  /** Writes a pending line if the interval has passed. Call it once a second. */
  tick(): void {
    // A clock that is set back must not stop the log.
    if (Math.abs(this.#clock.now() - this.#writtenAt) >= this.#interval) this.flush();
  }

  /** Writes a pending line at once. */
  flush(): void {
    if (!this.#isPending) return;
    this.#isPending = false;
    this.#writtenAt = this.#clock.now();
    this.#write();
  }
}

/** Makes paced logs write their pending lines every second. Returns a function that stops this and writes the rest. */
export function tickPaces(...paces: readonly LogPace[]): () => void {
  const timer = setInterval(() => {
    for (const pace of paces) pace.tick();
  }, SECOND);
  timer.unref();
  return () => {
    clearInterval(timer);
    for (const pace of paces) pace.flush();
  };
}
