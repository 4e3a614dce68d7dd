import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../sdk/src/clock.ts';
import type { PetStore } from '../../../sdk/src/index.ts';
import { Random } from './random.ts';
import type { TestClock } from './test-clock.ts';

interface Timer {
  at: number;
  run: () => void;
}

/** How many turns of the event loop may pass without progress, before a test that waits for work fails. */
const MOST_TURNS = 200_000;

/** How often the time may advance until the work is done, before such a test fails: a client that never gives up waits for ever. */
const MOST_WAITS = 10_000;

/** The time of clients in a test. It moves with the clock of the service, and only when all clients wait. */
export class ClientTime implements Clock {
  readonly #clock: TestClock;
  readonly #random: Random;
  readonly #timers = new Set<Timer>();
  /** The client does not know the time of the service. */
  #now = 1_234_567;

  constructor(clock: TestClock, seed = 17) {
    this.#clock = clock;
    this.#random = new Random(seed);
  }

  /** The number of timers that have not run. */
  get timers(): number {
    return this.#timers.size;
  }

  now = (): number => this.#now;

  random = (): number => this.#random.next();

  after = (milliseconds: number, run: () => void): (() => void) => {
    const timer = { at: this.#now + milliseconds, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  /** Moves the time of clients and service. Timers that are due run. */
  advance(milliseconds: number): void {
    this.#now += milliseconds;
    this.#clock.advance(milliseconds);
    for (const timer of this.#timers) {
      if (timer.at > this.#now) continue;
      this.#timers.delete(timer);
      timer.run();
    }
  }

  /** Advances the time whenever all clients wait, until the work is done. Returns its result. */
  async run<T>(work: Promise<T>, stores: readonly PetStore[]): Promise<T> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    done.catch(() => {});
    for (let turns = 0, waits = 0; !isDone; turns++) {
      assert.ok(turns < MOST_TURNS, 'the work makes no progress');
      assert.ok(waits < MOST_WAITS, 'the work never ends');
      await nextTurn();
      const next = Math.min(...Array.from(this.#timers, ({ at }) => at));
      const areWaiting = stores.every(
        ({ limits }) => limits.inFlight === 0 && (limits.waiting === 0 || limits.wait !== undefined),
      );
      if (isDone || !areWaiting || next === Number.POSITIVE_INFINITY) continue;
      // The clock of the service has whole milliseconds.
      this.advance(Math.ceil(next - this.#now));
      turns = 0;
      waits++;
    }
    return done;
  }
}
