import { type Clock, SECOND } from './clock.ts';

/** Paces a log line about what can happen with every request: it is written at most once a second, and none too few. */
export class LogPace {
  readonly #clock: Clock;
  readonly #write: () => void;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #isPending = false;

  /** `write` logs what happened since it was called before. */
  constructor(clock: Clock, write: () => void) {
    this.#clock = clock;
    this.#write = write;
  }

  /** Has the line written: now, or by `tick` once a second has passed since the line before. */
  request(): void {
    this.#isPending = true;
    this.tick();
  }

  /** Writes the line that is pending, if it is time. To be called once a second. */
  tick(): void {
    // A clock that was set back must not silence the log.
    if (Math.abs(this.#clock.now() - this.#writtenAt) >= SECOND) this.flush();
  }

  /** Writes the line that is pending. */
  flush(): void {
    if (!this.#isPending) return;
    this.#isPending = false;
    this.#writtenAt = this.#clock.now();
    this.#write();
  }
}
