import { setImmediate } from 'node:timers/promises';
import pLimit from 'p-limit';

const oneAtATime = pLimit(1);

/** Waits for a turn of the event loop that no other search of this process has, so that many searches block it no longer than one. */
export function nextTurn(): Promise<void> {
  return oneAtATime(() => setImmediate());
}

/** Splits a search into portions of bounded work, each in a turn of its own. */
export class Portions {
  readonly #size: number;
  #taken = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Call it before some work. It waits for a turn when the work would exceed the portion. */
  async take(work: number): Promise<void> {
    if (this.#taken > 0 && this.#taken + work > this.#size) {
      await nextTurn();
      this.#taken = 0;
    }
    this.#taken += work;
  }
}
