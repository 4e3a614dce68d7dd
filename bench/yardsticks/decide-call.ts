import { newState, type Terms } from '../../service/src/counters/decide.ts';
import { decideScript } from '../../service/src/counters/decide-script.ts';
import { packCall } from '../../service/src/counters/packed-state.ts';
import { DAY, MINUTE, SECOND } from '../../service/src/kit/clock.ts';

const TERMS: Terms = {
  // No load reaches these quotas.
  limits: { perMinute: 1_000_000_000, perDay: 1_000_000_000_000 },
  bansLiftedAt: 0,
  banRules: {
    forgiveness: 2 * SECOND,
    strikes: 10,
    strikesWithin: MINUTE,
    durations: [1, 5, 15, 60].map(minutes => minutes * MINUTE),
    decay: DAY,
  },
};

const call = { what: 1, now: undefined, ttl: 2 * DAY, terms: TERMS } as const;

/** The call to Redis that decides a request of a key, as the service makes it for a single request. */
export const decideCall = {
  script: decideScript,
  key: 'petstore:limits:{key:bench}',
  /** The argument of the first call, with the state as a seed. */
  firstCall: packCall({ ...call, seed: newState(Date.now()) }),
  call: packCall({ ...call, seed: undefined }),
};
