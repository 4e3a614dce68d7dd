import type { Clock } from '../kit/clock.ts';
import type { LimitState, Terms } from './decide.ts';
import { packCall, type ScriptResult, unpackResult } from './packed-state.ts';
import type { RedisLink } from './redis-link.ts';

/** What a call of the script decides about. */
interface Subject {
  /** Its key in Redis. */
  key: string;
  /** Its state in this process. */
  known: LimitState;
  terms: Terms;
  /** The shortest time for which Redis stores its state, in milliseconds. */
  ttl: number;
}

/** The terms of a look, which decides nothing. */
const NO_TERMS: Terms = { limits: { perMinute: 0, perDay: 0 }, bansLiftedAt: 0, banRules: undefined };

/**
 * Calls `decide.lua`. The first call for a state sends it as a seed, and so does a call after Redis has lost the state. Every
 * method resolves with `undefined` when Redis is unavailable.
 */
export class RedisDecisions {
  readonly #link: RedisLink;
  readonly #clock: 'redis' | Clock;
  /** The states that were sent to Redis since it was connected. */
  #seeded = new WeakSet<Readonly<LimitState>>();
  /** How far the deciding clock is ahead of this process's clock, in milliseconds. */
  #ahead = 0;

  constructor(link: RedisLink, clock: 'redis' | Clock) {
    this.#link = link;
    this.#clock = clock;
  }

  /** Returns a time of this process's clock as the deciding clock shows it. */
  timeOf(now: number): number {
    return now + this.#ahead;
  }

  isSeeded(state: Readonly<LimitState>): boolean {
    return this.#seeded.has(state);
  }

  /** Makes the next call for each state send it again. */
  forgetSeeds(): void {
    this.#seeded = new WeakSet();
  }

  /**
   * Decides a request of one subject, which counts as `cost` requests, or one that counts for several subjects or for none.
   * Resolves with a result for each.
   */
  async decide(subjects: readonly Subject[], now: number, cost = 1): Promise<ScriptResult[] | undefined> {
    if (!this.#link.isUp) return undefined;
    const keys = subjects.map(({ key }) => key);
    const send = (sendsAll: boolean) => {
      const calls = subjects.map(({ known, terms, ttl }, i) => {
        const what = i === 0 && subjects.length > 1 ? (`of${subjects.length}` as const) : cost;
        const seed = sendsAll || !this.#seeded.has(known) ? known : undefined;
        this.#seeded.add(known);
        return packCall({ what, now: this.#clock === 'redis' ? undefined : now, ttl, terms, seed });
      });
      return this.#link.decide(keys, calls);
    };
    let packed = await send(false);
    // Redis has lost a state, and counted nothing.
    if (packed?.[0] === '') packed = await send(true);
    if (packed === undefined || packed[0] === '') return undefined;
    const results = packed.map((text, i) => unpackResult(text, subjects[i]!.known.resets)!);
    this.#ahead = results[0]!.decidedAt - now;
    return results;
  }

  /** Merges a state into the one at `key`, and resolves with the result. `ttl` is as in `Subject`. */
  async merge(key: string, known: LimitState, ttl: number): Promise<LimitState | undefined> {
    this.#seeded.add(known);
    const now = this.#clock === 'redis' ? undefined : this.#clock.now();
    const call = packCall({ what: 'look', now, ttl, terms: NO_TERMS, seed: known });
    const packed = await this.#link.decide([key], [call]);
    return packed && unpackResult(packed[0]!, known.resets)?.state;
  }
}
