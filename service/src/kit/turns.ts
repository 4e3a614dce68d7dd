import { setImmediate } from 'node:timers/promises';
import pLimit from 'p-limit';

const oneAtATime = pLimit(1);

/**
 * Waits for a turn of the event loop that no other search or long read of this process has, so that many of them block it no longer than
 * one.
 */
export function nextTurn(): Promise<void> {
  return oneAtATime(() => setImmediate());
}

/** Splits a long task into portions of bounded work, each in a turn of its own. */
export class Portions {
  readonly #size: number;
  readonly #nextTurn: () => Promise<unknown>;
  #taken = 0;

  /** @param next waits for a turn, by default for one that no other long work has */
  constructor(size: number, next: () => Promise<unknown> = nextTurn) {
    this.#size = size;
    this.#nextTurn = next;
  }

  /** Call it before some work. It waits for a turn when the work would exceed the portion. */
  async take(work: number): Promise<void> {
    if (this.#taken > 0 && this.#taken + work > this.#size) {
      await this.#nextTurn();
      this.#taken = 0;
    }
    this.#taken += work;
  }
}
