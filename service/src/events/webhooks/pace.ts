import { SECOND } from '../../kit/clock.ts';
import type { Outcome } from './attempt.ts';

/** The maximum number of deliveries that all replicas together send at once, before the endpoint has responded to any. */
export const INITIAL_CONCURRENCY = 8;

/** The maximum number of concurrent deliveries to an endpoint that responds quickly. */
export const MAX_CONCURRENCY = 64;

/** The maximum number of concurrent deliveries while attempts fail, so that a failing endpoint does not take many connections. */
export const FAILING_CONCURRENCY = 2;

/** Responses faster than `QUICK` raise the concurrency; those that take `SLOW` or longer lower it. In milliseconds. */
const QUICK = SECOND / 4;
const SLOW = SECOND;

/** How many deliveries of a webhook are sent at once: one more after each quick response, and half as many after a failure. */
export class Pace {
  #atOnce = INITIAL_CONCURRENCY;

  get atOnce(): number {
    return this.#atOnce;
  }

  /** How many more deliveries may be claimed while all connections are in use: none until the endpoint has been quick. */
  get ahead(): number {
    return this.#atOnce > INITIAL_CONCURRENCY ? this.#atOnce : 0;
  }

  /** Adapts the pace to an outcome. */
  adapt({ error, duration }: Pick<Outcome, 'error' | 'duration'>): void {
    if (error !== null) this.#atOnce = Math.max(FAILING_CONCURRENCY, Math.floor(this.#atOnce / 2));
    else if (duration < QUICK) this.#atOnce = Math.min(MAX_CONCURRENCY, this.#atOnce + 1);
    // A slow endpoint keeps the concurrency of a new one.
    else if (duration >= SLOW)
      this.#atOnce = Math.min(this.#atOnce, Math.max(INITIAL_CONCURRENCY, this.#atOnce - 1));
  }
}

/** Returns how many deliveries of a webhook may be sent at once. `atOnce` is the pace of its endpoint in this process. */
export function mostAtOnce({ failing_since }: { failing_since: number | null }, atOnce: number): number {
  return failing_since === null ? atOnce : Math.min(atOnce, FAILING_CONCURRENCY);
}
