import { type Decision, decide, describe, type LimitState, type Terms } from '../../src/counters/decide.ts';
import {
  decideVisit,
  describeVisit,
  networkTermsOf,
  type VisitDecision,
  type VisitStates,
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
  /** Decides a visit and leaves the new states in `states`. */
  decideVisit(states: VisitStates, terms: VisitTerms, now: number): Promise<VisitDecision>;
}

export const inProcess: Rule = {
  name: 'in this process',
  runs: 500,
  decide: async (state, terms, now, cost) => decide(state, terms, now, cost),
  decideVisit: async (states, terms, now) => decideVisit(states, terms, now),
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
    decideVisit: async (states, terms, now) => {
      const request = requests++;
      const present = states.filter(state => state !== undefined);
      const ofSubjects = [terms.key, terms.visitor, networkTermsOf(terms.visitor)];
      const results = await connection().client.decideTogether(
        present.map((_, i) => `rule:{${request}}:${i}`),
        present.map((seed, i) =>
          packCall({
            what: i === 0 ? `of${present.length}` : 1,
            now,
            ttl: SECOND,
            terms: ofSubjects[i]!,
            seed,
          }),
        ),
      );
      const responses = results.map(text => unpackResult(text)!);
      for (const [i, state] of present.entries()) Object.assign(state, responses[i]!.state);
      return describeVisit(states, terms, responses[0]!.decidedAt, responses[0]!);
    },
  };
}
