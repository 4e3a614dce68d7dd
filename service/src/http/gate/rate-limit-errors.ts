import { ApiError } from '../../contract/errors.ts';
import type { Decision } from '../../counters/decide.ts';
import type { WindowLimits } from '../../counters/windows.ts';
import { DAY, MINUTE, SECOND } from '../../kit/clock.ts';
import type { HeaderPairs } from '../send.ts';

/** The values of `RateLimit-Policy`, which all requests with the same limits share. */
const policies = new WeakMap<WindowLimits, string>();

/**
 * Adds the rate-limit headers: `X-RateLimit-*` and the fields of draft-ietf-httpapi-ratelimit-headers-11. `RateLimit`
 * describes the same window as `X-RateLimit-*`.
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

/** What a request counts against: its key, the separate limit that its key has for its account, or its address. */
export type CountedBy = 'key' | 'account' | 'address';

const usedBy: Record<CountedBy, string> = {
  key: '',
  account: ' for reading the account of this key, which has its own limit',
  address: ' for your address, which is counted because the request has no valid API key',
};

/** The error for a request that the limits do not admit: why, whose limits, and when to retry. */
export function rejectionOf(
  { verdict, window, limit, reset, wait }: Decision,
  countedBy: CountedBy,
): ApiError {
  const until = new Date(reset * SECOND).toISOString().replace('.000', '');
  const headers = { 'retry-after': String(wait) };
  if (verdict === 'banned') {
    return new ApiError(
      'api_key_banned',
      `The API key is banned until ${until}, because it kept sending requests after it was rejected: retry after ` +
        `${wait} s, and after every 429 wait for the time in Retry-After`,
      headers,
    );
  }
  const usedUp =
    limit === 1 ? `The one request of this ${window} is` : `The ${limit} requests of this ${window} are`;
  return new ApiError(
    'rate_limit_exceeded',
    `${usedUp} used up${usedBy[countedBy]}; the next ${window} starts at ${until}: retry after ${wait} s`,
    headers,
  );
}
