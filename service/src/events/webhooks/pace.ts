import { SECOND } from '../../kit/clock.ts';
import type { Outcome } from './attempt.ts';

/** The most deliveries of a webhook that are sent at once, by all replicas together: before its endpoint has answered any. */
export const AT_FIRST = 8;

/** The same once the endpoint has shown that it is quick. */
export const AT_MOST = 64;

/** The same while its attempts fail: an endpoint that takes no delivery is not to keep many connections from others. */
export const WHILE_FAILING = 2;

/** How long an answer may take that lets more be sent at once, in milliseconds, and one that lets as many. */
const QUICK = SECOND / 4;
const SLOW = SECOND;

/** How many deliveries of a webhook are sent at once: more with each quick answer, and half as many after each failure. */
export class Pace {
  #atOnce = AT_FIRST;

  get atOnce(): number {
    return this.#atOnce;
  }

  /** How many more may be claimed while their connections are in use: none before the endpoint has shown that it is quick. */
  get ahead(): number {
    return this.#atOnce > AT_FIRST ? this.#atOnce : 0;
  }

  /** Heeds an outcome. */
  adapt({ error, duration }: Pick<Outcome, 'error' | 'duration'>): void {
    if (error !== null) this.#atOnce = Math.max(WHILE_FAILING, Math.floor(this.#atOnce / 2));
    else if (duration < QUICK) this.#atOnce = Math.min(AT_MOST, this.#atOnce + 1);
    // A slow one keeps what it would have without a history.
    else if (duration >= SLOW) this.#atOnce = Math.min(this.#atOnce, Math.max(AT_FIRST, this.#atOnce - 1));
  }
}

/** How many of a webhook may be sent at once, given the pace of its endpoint here. */
export function mostAtOnce({ failing_since }: { failing_since: number | null }, atOnce: number): number {
  return failing_since === null ? atOnce : Math.min(atOnce, WHILE_FAILING);
}
