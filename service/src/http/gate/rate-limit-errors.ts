import { planLimits } from '../../access/plans/plan.ts';
import { ApiError } from '../../contract/errors.ts';
import type { KeyKind } from '../../contract/key-kinds.ts';
import type { Decision, Terms } from '../../counters/decide.ts';
import { networkTermsOf } from '../../counters/decide-visit.ts';
import type { WindowLimits } from '../../counters/windows.ts';
import { DAY, MINUTE, SECOND } from '../../kit/clock.ts';
import type { HeaderPairs } from '../send.ts';

/** Requests that do not count against a secret key have the limits of the Free plan, and are never banned. */
export const FREE_TERMS: Terms = { limits: planLimits.free, bansLiftedAt: 0, banRules: undefined };

/** The `Retry-After` for a client with too many streams, in seconds. */
const WAIT_FOR_STREAM = 5;

/** The values of `RateLimit-Policy`, which all requests with the same limits share. */
const policies = new WeakMap<WindowLimits, string>();

/** The starts of the names of windows in the fields of the draft. Without a visit all are those of the caller. */
const prefixes = { key: '', visitor: 'visitor-', network: 'network-' } as const;

const visitorPolicy = policyText(FREE_TERMS.limits, prefixes.visitor);
const networkPolicy = policyText(networkTermsOf(FREE_TERMS).limits, prefixes.network);

/**
 * Adds the rate-limit headers: `X-RateLimit-*` and the fields of draft-ietf-httpapi-ratelimit-headers-11. `RateLimit`
 * describes the same window as `X-RateLimit-*`. `limits` are those of the key or the address.
 */
export function addRateLimitHeaders(
  head: HeaderPairs,
  { window, limit, remaining, reset, wait, boundBy, hasNetwork }: Decision,
  limits: WindowLimits,
): void {
  let policy = policyOf(limits);
  if (boundBy !== undefined) policy += `, ${visitorPolicy}`;
  if (hasNetwork) policy += `, ${networkPolicy}`;
  const name = prefixes[boundBy ?? 'key'] + window;
  // biome-ignore format: a header per line
  head.push(
    'x-ratelimit-limit', limit,
    'x-ratelimit-remaining', remaining,
    'x-ratelimit-reset', reset,
    'ratelimit-policy', policy,
    'ratelimit', `"${name}";r=${remaining};t=${wait}`,
  );
}

function policyOf(limits: WindowLimits): string {
  let policy = policies.get(limits);
  if (policy === undefined) {
    policy = policyText(limits, '');
    policies.set(limits, policy);
  }
  return policy;
}

function policyText({ perMinute, perDay }: WindowLimits, prefix: string): string {
  return `"${prefix}minute";q=${perMinute};w=${MINUTE / SECOND}, "${prefix}day";q=${perDay};w=${DAY / SECOND}`;
}

/**
 * What a request counts against: its key, the separate limit that its key has for its account, its publishable key and its
 * visitor together, or its address, because it has no valid key or comes from a page of another origin.
 */
export type CountedBy = 'key' | 'account' | 'visit' | 'address' | 'origin' | 'network';

/** The same for messages. Some operations count against the address, whatever their key is. */
type Reason = CountedBy | 'operation';

const usedBy: Record<Exclude<Reason, 'visit'>, string> = {
  key: '',
  account: ' for the account of this key, which has its own limit',
  address: ' for your address, because the request has no valid API key',
  origin: ' for your address, because the API key does not allow the origin of the page',
  network: ' for your address, because the API key does not allow it',
  operation: ' for your address, because this operation counts against it, with or without an API key',
};

const usedByVisits: Record<NonNullable<Decision['boundBy']>, string> = {
  key: ' by all visitors with this publishable key together',
  visitor: ' for your address, which has its own limit under this publishable key',
  network: ' for the IPv6 network (/48) of your address, which has its own limit under this publishable key',
};

/** The error for a request that the limits can never admit, because it counts as more requests than a window has. */
export function tooManyAtOnce(cost: number, { perMinute, perDay }: WindowLimits): ApiError {
  const most = Math.min(perMinute, perDay);
  return new ApiError(
    'invalid_request',
    `The batch counts as ${cost} requests, one for each operation, but the API key has ${perMinute} a minute and ` +
      `${perDay} a day: send at most ${most} ${most === 1 ? 'operation' : 'operations'} in a batch`,
  );
}

/** The error for a request that the limits do not admit as `cost` requests: why, whose limits, and when to retry. */
export function rejectionOf(
  { verdict, window, limit, remaining, reset, wait, boundBy = 'key' }: Decision,
  reason: Reason,
  kind?: KeyKind,
  cost = 1,
): ApiError {
  const until = new Date(reset * SECOND).toISOString().replace('.000', '');
  const headers = { 'retry-after': String(wait) };
  if (verdict === 'banned') {
    return new ApiError(
      'api_key_banned',
      // A used-up day can end after the ban.
      'The API key is banned, because it kept sending requests after it was rejected; the request is not admitted before ' +
        `${until}: retry after ${wait} s, and after every 429 wait for the time in Retry-After`,
      headers,
    );
  }
  const retry = `the next ${window} starts at ${until}: retry after ${wait} s`;
  if (remaining > 0) {
    return new ApiError(
      'rate_limit_exceeded',
      `The batch counts as ${cost} requests, one for each operation, but only ${remaining} of the ${limit} of this ` +
        `${window} ${remaining === 1 ? 'remains' : 'remain'}; ${retry}, or send fewer operations`,
      headers,
    );
  }
  const usedUp =
    limit === 1 ? `The one request of this ${window} is` : `The ${limit} requests of this ${window} are`;
  // A test key always has the plan Free.
  const canGrow = reason === 'key' && kind !== 'test';
  const upgrade = canGrow ? ', or request a larger plan with POST /account/plan-requests' : '';
  return new ApiError(
    'rate_limit_exceeded',
    `${usedUp} used up${reason === 'visit' ? usedByVisits[boundBy] : usedBy[reason]}; ${retry}${upgrade}`,
    headers,
  );
}

/** The error for another stream of a key that has `most` open streams. */
export function tooManyStreams(most: number): ApiError {
  return new ApiError(
    'too_many_streams',
    `The API key has ${most} open streams, which is the maximum: end one of them, or use another key`,
    { 'retry-after': String(WAIT_FOR_STREAM) },
  );
}
