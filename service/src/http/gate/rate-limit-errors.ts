import { ApiError } from '../../contract/errors.ts';
import type { Decision } from '../../counters/decide.ts';
import type { WindowLimits } from '../../counters/windows.ts';
import { DAY, MINUTE, SECOND } from '../../kit/clock.ts';
import type { HeaderPairs } from '../send.ts';

/** The text of `RateLimit-Policy` is the same for all requests under the same limits. */
const policies = new WeakMap<WindowLimits, string>();

/**
 * Adds what a response says of the caller's limits: the three headers that every response has, and beside them the fields of
 * draft-ietf-httpapi-ratelimit-headers-11, of which `RateLimit` tells of the same window.
 */
export function addRateLimitHeaders(
  head: HeaderPairs,
  { window, limit, remaining, reset, wait }: Decision,
  limits: WindowLimits,
): void {
  // biome-ignore format: a header per line
  head.push(
    'x-ratelimit-limit', limit,
    'x-ratelimit-remaining', remaining,
    'x-ratelimit-reset', reset,
    'ratelimit-policy', policyOf(limits),
    'ratelimit', `"${window}";r=${remaining};t=${wait}`,
  );
}

function policyOf(limits: WindowLimits): string {
  let policy = policies.get(limits);
  if (policy === undefined) {
    policy =
      `"minute";q=${limits.perMinute};w=${MINUTE / SECOND}, ` + `"day";q=${limits.perDay};w=${DAY / SECOND}`;
    policies.set(limits, policy);
  }
  return policy;
}

/** Whose limits a request draws on: those of its key, of the bucket that its key has for its account, or of its address. */
export type CountedBy = 'key' | 'account' | 'address';

const usedBy: Record<CountedBy, string> = {
  key: '',
  account: ' for reading the account of this key, which has a limit of its own',
  address: ' for your address, which counts because there is no valid API key',
};

/** What a caller is told that was not admitted: why, whose limits they are, and when to come back. */
export function rejectionOf(
  { verdict, window, limit, reset, wait }: Decision,
  countedBy: CountedBy,
): ApiError {
  const until = new Date(reset * SECOND).toISOString().replace('.000', '');
  const headers = { 'retry-after': String(wait) };
  if (verdict === 'banned') {
    return new ApiError(
      'api_key_banned',
      `The API key is banned until ${until}, because it went on calling after it was told to wait: retry after ` +
        `${wait} s, and from then on wait the seconds in Retry-After after every 429`,
      headers,
    );
  }
  const usedUp =
    limit === 1 ? `The one request of this ${window} is` : `The ${limit} requests of this ${window} are`;
  return new ApiError(
    'rate_limit_exceeded',
    `${usedUp} used up${usedBy[countedBy]}; the next ${window} begins at ${until}: retry after ${wait} s`,
    headers,
  );
}
