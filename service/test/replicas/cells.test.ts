import assert from 'node:assert/strict';
import { it } from 'node:test';
import { usedUp } from '../access/provoke-ban.ts';
import { eventsAfter, settledCursor } from '../support/event-log.ts';
import { aPet } from '../support/factories.ts';
import { holdLocks } from '../support/hold-writes.ts';
import { run } from '../support/service-process.ts';
import { startTestApp } from '../support/test-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { testRedis } from '../support/test-redis.ts';
import { valuesOf } from '../support/values.ts';

it('two cells on one PostgreSQL server and one Redis do not see each other’s data, events, locks and limits', async t => {
  const { url, redis } = await testRedis(t);
  const cellOf = (prefix: string) =>
    startTestApp(t, {
      shared: true,
      alone: false,
      clock: new TestClock(Date.now()),
      environment: { REDIS_URL: url, PETSTORE_REDIS_PREFIX: prefix },
    });
  const [north, south] = [await cellOf('north'), await cellOf('south')];
  const cursor = await settledCursor(south);

  const petId = await aPet(north.api, { stock: 1 });
  assert.equal((await south.api.get(`/pets?id=${petId}`)).body.length, 0);
  // A transaction that holds the lock of a pet in one cell does not stop the same pet in the other.
  const release = await holdLocks(north.app.db, tx => tx.lock(`pet ${petId}`));
  try {
    assert.equal(await south.app.db.write(tx => tx.tryLock(`pet ${petId}`)), true);
    assert.equal(await north.app.db.write(tx => tx.tryLock(`pet ${petId}`)), false);
  } finally {
    await release();
  }
  await settledCursor(north);
  assert.deepEqual(await eventsAfter(south.api, cursor), []);

  // Keys with the same ID, and each with limits of its own.
  const [used, fresh] = [await usedUp(north), await usedUp(south)];
  assert.equal(fresh.keyId, used.keyId);

  const environment = { ...north.store.environment, REDIS_URL: url, PETSTORE_REDIS_PREFIX: 'north' };
  const { stdout, stderr } = await run(t, ['keys', 'usage', String(used.keyId)], environment);
  const days: { admitted: number }[] = JSON.parse(stdout).days;
  assert.deepEqual([valuesOf(days, 'admitted'), stderr], [[1], '']);
  const names = await redis.keys('*');
  assert.deepEqual(
    names.filter(name => !/^(north|south):/.test(name)),
    [],
  );
});
