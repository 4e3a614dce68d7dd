import type { TestContext } from 'node:test';
import { SharedCounters, type SharedCountersOptions } from '../../src/counters/redis.ts';
import { MINUTE } from '../../src/kit/clock.ts';
import { TestClock } from '../support/test-clock.ts';

export interface Replica {
  counters: SharedCounters;
  /** The reported changes of the state of Redis. */
  statuses: [status: 'shared' | 'fallback', reason: string | undefined][];
}

/**
 * The counters of one replica. The instants of the calls decide, and no state that it merges counts as recorded ahead
 * of the clock. On a busy machine Redis may respond late, so the replica waits longer for it than a service does. The counters
 * are closed when the test ends.
 */
export async function aReplica(
  t: TestContext,
  url: string,
  options: Partial<SharedCountersOptions> = {},
): Promise<Replica> {
  const statuses: Replica['statuses'] = [];
  const counters = new SharedCounters({
    urls: [url],
    timeout: MINUTE,
    clock: new TestClock('2999-01-01T00:00:00.000Z'),
    onStatus: (status, error) => void statuses.push([status, error?.message]),
    ...options,
  });
  t.after(() => counters.close());
  await counters.open();
  return { counters, statuses };
}
