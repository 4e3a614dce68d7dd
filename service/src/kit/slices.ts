import { setImmediate as nextTurn } from 'node:timers/promises';

/** Splits a long task into slices. Between two slices the event loop serves other requests. */
export class Slices {
  readonly #duration: number;
  #end: number;

  /** @param duration how long a slice may take, in milliseconds */
  constructor(duration: number) {
    this.#duration = duration;
    this.#end = performance.now() + duration;
  }

  /** Call it after each step of the task. It waits for a turn of the event loop when the slice is over. */
  async next(): Promise<void> {
    if (performance.now() < this.#end) return;
    await nextTurn();
    this.#end = performance.now() + this.#duration;
  }
}
