import type { TestContext } from 'node:test';
import { SharedCounters, type SharedCountersOptions } from '../../src/counters/redis.ts';

export interface Replica {
  counters: SharedCounters;
  /** What was told of the state of Redis so far. */
  told: [status: 'shared' | 'fallback', reason: string | undefined][];
}

/** The counters of one replica, on a clock that the test turns. They are closed with the test. */
export async function aReplica(
  t: TestContext,
  url: string,
  options: Partial<SharedCountersOptions> = {},
): Promise<Replica> {
  const told: Replica['told'] = [];
  const counters = new SharedCounters({
    urls: [url],
    clock: 'caller',
    onStatus: (status, error) => void told.push([status, error?.message]),
    ...options,
  });
  t.after(() => counters.close());
  await counters.open();
  return { counters, told };
}
