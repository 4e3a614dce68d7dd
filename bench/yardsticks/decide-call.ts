import { readFileSync } from 'node:fs';
import { newState } from '../../service/src/counters/decide.ts';
import { packState } from '../../service/src/counters/packed-state.ts';
import { DAY, MINUTE, SECOND } from '../../service/src/kit/clock.ts';

const KEPT = 2 * DAY;
/** So many that no load reaches them. */
const QUOTAS = [1_000_000_000, 1_000_000_000_000];
const BAN_RULES = [2 * SECOND, 10, MINUTE, DAY, [1, 5, 15, 60].map(minutes => minutes * MINUTE).join(',')];

/** The call to Redis that decides a request of a key, as the service makes it. */
export const decideCall = {
  script: readFileSync(new URL('../../service/src/counters/decide.lua', import.meta.url), 'utf8'),
  key: 'petstore:limits:{key:bench}',
  /** Of the first request, which brings the state with it. */
  firstValues: ['count', packState(newState(Date.now())), '', KEPT, ...QUOTAS, 0, ...BAN_RULES],
  values: ['count', '', '', KEPT, ...QUOTAS, 0, ...BAN_RULES],
};
