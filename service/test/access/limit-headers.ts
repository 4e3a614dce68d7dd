import assert from 'node:assert/strict';
import { SECOND } from '../../src/kit/clock.ts';
import type { ApiResponse } from '../support/client.ts';

/** The caller's limits as the headers of a response state them. */
interface LimitHeaders {
  limit: number;
  remaining: number;
  /** Unix seconds. */
  reset: number;
}

/**
 * Reads the three headers; fails when they are missing, not integers, or contradict each other, other headers or the
 * clock.
 */
export function limitsIn(response: ApiResponse, now: number): LimitHeaders {
  const { status, headers } = response;
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map(name => {
    const value = headers[`x-ratelimit-${name}`];
    assert.match(String(value), /^\d{1,16}$/, `${status}: X-RateLimit-${name}`);
    return Number(value);
  }) as [number, number, number];
  assert.ok(remaining <= limit, `${status}: ${remaining} of ${limit} remain`);
  assert.ok(reset * SECOND > now, `${status}: the reset ${reset} is not after ${now / SECOND}`);
  assertFieldsAgree(response, { limit, remaining, reset }, now);
  return { limit, remaining, reset };
}

/** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers) describe the same window. */
function assertFieldsAgree(
  { status, headers }: ApiResponse,
  { limit, remaining, reset }: LimitHeaders,
  now: number,
): void {
  const policy = String(headers['ratelimit-policy']);
  const windows = /"((?:visitor-|network-)?(?:minute|day))";q=(\d{1,16});w=(?:60|86400)/;
  assert.match(
    policy,
    new RegExp(`^${windows.source}(, ${windows.source})*$`),
    `${status}: RateLimit-Policy`,
  );
  const limits = policy.split(', ').map(text => windows.exec(text)!.slice(1, 3) as [string, string]);
  const prefixes = ['', 'visitor-', 'network-'].slice(0, limits.length / 2);
  const names = prefixes.flatMap(prefix => [`${prefix}minute`, `${prefix}day`]);
  assert.deepEqual(
    limits.map(([name]) => name),
    names,
    `${status}: RateLimit-Policy ${policy}`,
  );
  const field = String(headers.ratelimit);
  const [, window, r, t] =
    /^"((?:visitor-|network-)?(?:minute|day))";r=(\d{1,16});t=(\d{1,9})$/.exec(field) ?? [];
  assert.ok(window, `${status}: RateLimit ${field}`);
  assert.equal(Number(new Map(limits).get(window)), limit, `${status}: ${policy} and ${field}`);
  assert.equal(Number(r), remaining, `${status}: ${field}`);
  const wait = Math.ceil((reset * SECOND - now) / SECOND);
  assert.equal(Number(t), wait, `${status}: ${field} with a reset ${reset} at ${now}`);
  if (status === 429) assert.equal(headers['retry-after'], t, `${status}: Retry-After`);
}

/** The seconds that a rejected caller must wait. */
export function retryAfterIn({ headers }: ApiResponse): number {
  assert.match(String(headers['retry-after']), /^[1-9]\d{0,8}$/);
  return Number(headers['retry-after']);
}
