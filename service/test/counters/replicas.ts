import type { TestContext } from 'node:test';
import { SharedCounters, type SharedCountersOptions } from '../../src/counters/redis.ts';
import { TestClock } from '../support/test-clock.ts';

export interface Replica {
  counters: SharedCounters;
  /** What was told of the state of Redis so far. */
  told: [status: 'shared' | 'fallback', reason: string | undefined][];
}

/** The counters of one replica. The instants of the calls decide, and of what it is sent to merge it believes all. They are closed with the test. */
export async function aReplica(
  t: TestContext,
  url: string,
  options: Partial<SharedCountersOptions> = {},
): Promise<Replica> {
  const told: Replica['told'] = [];
  const counters = new SharedCounters({
    urls: [url],
    clock: new TestClock('2999-01-01T00:00:00.000Z'),
    onStatus: (status, error) => void told.push([status, error?.message]),
    ...options,
  });
  t.after(() => counters.close());
  await counters.open();
  return { counters, told };
}
