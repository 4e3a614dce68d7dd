import { type Decision, decide, describe, type LimitState, type Terms } from '../../src/counters/decide.ts';
import {
  decideVisit,
  describeVisit,
  type VisitDecision,
  type VisitTerms,
} from '../../src/counters/decide-visit.ts';
import { packCall, unpackResult } from '../../src/counters/packed-state.ts';
import type { RedisConnection } from '../../src/counters/redis-client.ts';
import { SECOND } from '../../src/kit/clock.ts';

/** One of the two implementations of the rule of limits and bans. */
export interface Rule {
  name: string;
  /** How many histories are generated for each property: fewer when each request is a round trip. */
  runs: number;
  /** Decides a request that counts as `cost` requests, and leaves the new state in `state`. The default is 1. */
  decide(state: LimitState, terms: Terms, now: number, cost?: number): Promise<Decision>;
  /** Decides a visit and leaves the new states in `key` and `visitor`. */
  decideVisit(key: LimitState, visitor: LimitState, terms: VisitTerms, now: number): Promise<VisitDecision>;
}

export const inProcess: Rule = {
  name: 'in this process',
  runs: 500,
  decide: async (state, terms, now, cost) => decide(state, terms, now, cost),
  decideVisit: async (key, visitor, terms, now) => decideVisit(key, visitor, terms, now),
};

/** The script in Redis. Each request sends its state as a seed and uses a new Redis key. */
export function inRedis(connection: () => RedisConnection): Rule {
  let requests = 0;
  return {
    name: 'in Redis',
    runs: 40,
    decide: async (state, terms, now, cost = 1) => {
      const call = packCall({ what: cost, now, ttl: SECOND, terms, seed: state });
      const response = unpackResult(await connection().client.decide(`rule:${requests++}`, call))!;
      Object.assign(state, response.state);
      return describe(state, terms, response.decidedAt, response, cost);
    },
    decideVisit: async (key, visitor, terms, now) => {
      const request = requests++;
      const [ofKey, ofVisitor] = await connection().client.decideBoth(
        [`rule:{${request}}`, `rule:{${request}}:visitor`],
        [
          packCall({ what: 'both', now, ttl: SECOND, terms: terms.key, seed: key }),
          packCall({ what: 1, now, ttl: SECOND, terms: terms.visitor, seed: visitor }),
        ],
      );
      const response = unpackResult(ofKey)!;
      Object.assign(key, response.state);
      Object.assign(visitor, unpackResult(ofVisitor)!.state);
      return describeVisit(key, visitor, terms, response.decidedAt, response);
    },
  };
}
