import assert from 'node:assert/strict';
import { SECOND } from '../../src/kit/clock.ts';
import type { Answer } from '../support/client.ts';

/** What a response says of the caller's limits. */
export interface ToldLimits {
  limit: number;
  remaining: number;
  /** Unix seconds. */
  reset: number;
}

/** Reads the three headers; fails when they are missing, are no integers or contradict each other or the clock. */
export function toldLimits({ status, headers }: Answer, now: number): ToldLimits {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map(name => {
    const value = headers[`x-ratelimit-${name}`];
    assert.match(String(value), /^\d{1,15}$/, `${status}: X-RateLimit-${name}`);
    return Number(value);
  }) as [number, number, number];
  assert.ok(remaining <= limit, `${status}: ${remaining} of ${limit} remain`);
  assert.ok(reset * SECOND > now, `${status}: the reset ${reset} is not after ${now / SECOND}`);
  return { limit, remaining, reset };
}

/** The seconds that a refused caller is told to wait. */
export function toldToWait({ headers }: Answer): number {
  assert.match(String(headers['retry-after']), /^[1-9]\d{0,5}$/);
  return Number(headers['retry-after']);
}
