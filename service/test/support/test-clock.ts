import type { Clock } from '../../src/kit/clock.ts';

/** A clock that moves only when a test moves it. */
export class TestClock implements Clock {
  #now: number;

  constructor(start: string | number = '2026-11-21T12:00:00Z') {
    this.#now = new Date(start).getTime();
  }

  now(): number {
    return this.#now;
  }

  /** Moves forward (or back) by milliseconds. */
  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }

  set(instant: string): void {
    this.#now = new Date(instant).getTime();
  }
}
