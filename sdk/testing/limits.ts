import {
  type PassedQuota,
  passedOfDay,
  passedOfMinutes,
  quotaHeader,
} from '../../service/src/access/key-warnings/quota-rule.ts';
import { type Plan, planLimits } from '../../service/src/access/plans/plan.ts';
import { ApiError } from '../../service/src/contract/errors.ts';
import { banAt, decide, type LimitState, newState, type Terms } from '../../service/src/counters/decide.ts';
import { type WindowLimits, windowsAt } from '../../service/src/counters/windows.ts';
import {
  addRateLimitHeaders,
  type CountedBy,
  FREE_TERMS,
  rejectionOf,
  tooManyAtOnce,
} from '../../service/src/http/gate/rate-limit-errors.ts';
import { DAY, MINUTE, SECOND } from '../../service/src/kit/clock.ts';
import { formatDate, formatDateTime } from '../../service/src/kit/dates.ts';

/** For how many days the service retains the use of a key. */
const USAGE_DAYS = 90;

/** As the service has them without settings. */
const banRules = {
  forgiveness: 2 * SECOND,
  strikes: 10,
  strikesWithin: MINUTE,
  durations: [MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE],
  decay: DAY,
};

/** The limits of the API key, of its account, and of callers without a key. Their rules are those of the service itself. */
export class Limits {
  readonly #terms: Terms;
  readonly #states = new Map<CountedBy, LimitState>();
  /** The requests of the key on each day, the latest first. */
  #days: { day: number; admitted: number; refused: number }[] = [];
  readonly #onQuota: (quota: PassedQuota) => void;
  /** The warnings of the key by their identity. */
  readonly #warnings = new Map<string, { quota: PassedQuota; passedAt: string }>();

  constructor(plan: Plan, quotas: WindowLimits, onQuota: (quota: PassedQuota) => void) {
    this.#onQuota = onQuota;
    this.#terms = { limits: plan === 'enterprise' ? quotas : planLimits[plan], bansLiftedAt: 0, banRules };
  }

  /** Counts a request, and adds the headers that every response has. Returns the error of a request that is not admitted. */
  count(countedBy: CountedBy, headers: Headers, cost: number): ApiError | undefined {
    const terms = countedBy === 'key' ? this.#terms : FREE_TERMS;
    const state = this.#state(countedBy);
    const decision = decide(state, terms, Date.now(), cost);
    if (countedBy === 'key') {
      const { day, dayUsed: admitted, dayRejected: refused } = state;
      const earlier = this.#days.filter(other => other.day !== day);
      this.#days = [{ day, admitted, refused }, ...earlier].slice(0, USAGE_DAYS);
    }
    const pairs: (string | number)[] = [];
    addRateLimitHeaders(pairs, decision, terms.limits);
    const isCountedLater = cost === 0 && decision.verdict === 'admitted';
    if (countedBy === 'key' && !isCountedLater) pairs.push(...this.#warn());
    for (let i = 0; i < pairs.length; i += 2) headers.set(String(pairs[i]), String(pairs[i + 1]));
    return decision.verdict === 'admitted' ? undefined : rejectionOf(decision, countedBy, undefined, cost);
  }

  /** Reports the parts of its limits that the key has used and was not warned of yet. Returns the header with them. */
  #warn(): string[] {
    const { limits } = this.#terms;
    const state = this.#state('key');
    const ofMinutes = passedOfMinutes(state);
    for (const quota of [
      ...passedOfDay(state.day, state.dayUsed, limits.perDay),
      ...(ofMinutes ? [ofMinutes] : []),
    ]) {
      const name = `${quota.day} ${quota.window} ${quota.percent}`;
      if (this.#warnings.has(name)) continue;
      this.#warnings.set(name, { quota, passedAt: formatDateTime(Date.now()) });
      this.#onQuota(quota);
    }
    const header = quotaHeader(state, limits, Date.now());
    return header === undefined ? [] : ['x-quota-warning', header];
  }

  /** Throws for a batch that the key can never send. */
  rejectTooMany(operations: number): void {
    const { limits } = this.#terms;
    if (operations > Math.min(limits.perMinute, limits.perDay)) throw tooManyAtOnce(operations, limits);
  }

  /** The use of the key, as `GET /account` returns it. */
  use() {
    const now = Date.now();
    const state = this.#state('key');
    const ban = banAt(state, 0, now);
    const windows = windowsAt(state, this.#terms.limits, now);
    const shown = Object.entries(windows).map(([name, { end, ...window }]) => [
      name,
      { ...window, resetAt: formatDateTime(end) },
    ]);
    const days = this.#days
      .filter(({ day, admitted, refused }) => admitted + refused > 0 && day > now / DAY - USAGE_DAYS)
      .map(({ day, ...use }) => ({ date: formatDate(day * DAY), ...use }));
    return {
      ban: ban ? { since: formatDateTime(ban.since), until: formatDateTime(ban.until) } : null,
      windows: Object.fromEntries(shown),
      days,
      warnings: {
        quota: Array.from(this.#warnings.values())
          .filter(({ quota }) => quota.day === Math.floor(now / DAY))
          .map(({ quota: { window, percent, limit }, passedAt }) => ({ window, percent, limit, passedAt })),
        expiry: [],
      },
    };
  }

  #state(countedBy: CountedBy): LimitState {
    const state = this.#states.get(countedBy) ?? newState(Date.now());
    this.#states.set(countedBy, state);
    return state;
  }
}

/** Throws unless a key has all scopes, and one of the others if there are any. */
export function rejectWithoutScopes(
  held: readonly string[],
  scopes: readonly string[],
  anyOf: readonly string[],
): void {
  if (held.includes('admin')) return;
  const missing = scopes.find(scope => !held.includes(scope));
  if (missing !== undefined)
    throw new ApiError('insufficient_scope', `The API key lacks the scope \`${missing}\``);
  if (anyOf.length > 0 && !anyOf.some(scope => held.includes(scope)))
    throw new ApiError('insufficient_scope', `The API key has none of the scopes ${anyOf.join(', ')}`);
}
