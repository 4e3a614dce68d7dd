import { beforeEach } from 'node:test';
import { DAY } from '../../src/kit/clock.ts';
import type { TestApp } from '../support/test-app.ts';

/**
 * Starts each case of the file at noon of another day, on which no key and no address has used anything. The result has the date of
 * the case, and its instants: `at('12:01:00')`.
 */
export function eachNoon(shop: Pick<TestApp, 'clock'>): {
  today: () => string;
  at: (time: string) => string;
} {
  beforeEach(() => shop.clock.advance(DAY + DAY / 2 - (shop.clock.now() % DAY)));
  const today = () => new Date(shop.clock.now()).toISOString().slice(0, 10);
  return { today, at: time => `${today()}T${time}Z` };
}
