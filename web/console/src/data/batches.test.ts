import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type BatchSession, runInBatches } from './batches.ts';

/** A session with a client that executes every batch, and has this many requests left in the minute. */
function aSession({ limit, remaining }: { limit: number; remaining: number }) {
  const sizes: number[] = [];
  const batch = () => {
    let size = 0;
    return {
      add: () => ({ index: size++ }),
      run: async () => {
        sizes.push(size);
        remaining = Math.max(0, remaining - size);
        return { all: Array.from({ length: size }, () => ({})) };
      },
    };
  };
  const limits = {
    inFlight: 0,
    get windows() {
      return [{ remaining }];
    },
  };
  const windows = { minute: { limit }, day: { limit: 100_000 } };
  const session = { store: { batch, limits }, account: { windows }, onEnd: () => () => {} };
  return { session: session as unknown as BatchSession, sizes };
}

async function sizesOf(quota: { limit: number; remaining: number }, items: number, perItem = 1) {
  const { session, sizes } = aSession(quota);
  const add = (batch: unknown) => Array.from({ length: perItem }, () => (batch as { add(): never }).add());
  await runInBatches(session, Array.from({ length: items }), { add, perItem, onResults: () => {} });
  return sizes;
}

describe('a run in batches', () => {
  it('sends at most 100 operations at once, and half of what the plan has', async () => {
    assert.deepEqual(await sizesOf({ limit: 10_000, remaining: 10_000 }, 230), [100, 100, 30]);
    assert.deepEqual(await sizesOf({ limit: 60, remaining: 60 }, 60), [30, 30]);
  });

  it('counts all operations of an item', async () => {
    assert.deepEqual(await sizesOf({ limit: 10_000, remaining: 10_000 }, 120, 2), [100, 100, 40]);
    assert.deepEqual(await sizesOf({ limit: 60, remaining: 60 }, 30, 2), [30, 30]);
  });

  it('sends no more operations than are left of the minute, and waits with a whole batch when none is', async () => {
    assert.deepEqual(await sizesOf({ limit: 60, remaining: 40 }, 70), [30, 10, 30]);
    assert.deepEqual(await sizesOf({ limit: 60, remaining: 5 }, 10, 2), [4, 2, 14]);
  });
});
