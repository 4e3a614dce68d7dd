import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DatabaseUnavailable } from '../../src/db/database.ts';
import { openSqlite } from '../../src/db/sqlite.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { newTestStore } from '../support/test-store.ts';

it('the embedded store rejects at once the writes that its queue has no room for, and runs the others', async t => {
  const { directory, remove } = await newTestStore(false);
  const commits: number[] = [];
  const onCommit = (size: number) => void commits.push(size);
  const db = openSqlite({ directory, writeBatch: 2, maxQueue: 3, clock: systemClock, onCommit });
  t.after(async () => {
    await db.close();
    await remove();
  });
  const run: number[] = [];
  const writes = Array.from({ length: 5 }, (_, i) => db.write(async () => run.push(i)));
  const results = await Promise.allSettled(writes);
  for (const result of results.slice(3)) {
    assert.ok(result.status === 'rejected' && result.reason instanceof DatabaseUnavailable);
    assert.equal(result.reason.what, 'busy');
  }
  assert.deepEqual(run, [0, 1, 2]);
  await db.write(async () => run.push(5));
  assert.deepEqual(run, [0, 1, 2, 5]);
  assert.deepEqual(commits, [2, 1, 1]);
  // A group starts no write after 10 ms, for which it blocks all requests.
  const now = performance.now.bind(performance);
  let ahead = 0;
  t.mock.method(performance, 'now', () => now() + ahead);
  const slow = async () => {
    ahead += 10;
  };
  await Promise.all([db.write(slow), db.write(async () => {})]);
  assert.deepEqual(commits.slice(3), [1, 1]);
});
