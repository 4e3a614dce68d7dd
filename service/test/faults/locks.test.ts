import assert from 'node:assert/strict';
import { it } from 'node:test';
import { aPet } from '../support/factories.ts';
import { withSession } from '../support/test-store.ts';
import { aDatabase, aShop, assertUnavailable, recovery, respondedInTime } from './shop-on-postgres.ts';

it('a row that another client of the database has locked gets 503 after the time limit of a statement, while all other requests continue', async t => {
  const { api, databaseUrl } = await aShop(t, await aDatabase(t), {
    // The writes wait in turns, each for as long.
    PETSTORE_DATABASE_TIMEOUT_SECONDS: '1',
  });
  const [locked, free] = [await aPet(api), await aPet(api)];
  const rename = (petId: number, name: string) => api.patch(`/pets/${petId}`, { name });
  await withSession(databaseUrl, async other => {
    await other.query('BEGIN');
    await other.query('UPDATE pets SET name = name WHERE id = $1', [locked]);
    // More than there are connections: they must leave room for each other, and for the rest of the shop.
    for (let times = 0; times < 2; times++) {
      const stuck = Array.from({ length: 5 }, (_, i) => rename(locked, `Stuck ${i}`));
      for (let i = 0; i < 20; i++) {
        assert.equal((await rename(free, `Free ${i}`)).status, 200);
        assert.equal((await api.get(`/pets?id=${locked}`)).status, 200);
      }
      (await respondedInTime(stuck)).forEach(assertUnavailable);
    }
    (await respondedInTime(Array.from({ length: 40 }, () => rename(locked, 'Stuck')))).forEach(
      assertUnavailable,
    );
    await recovery(() => rename(free, 'Free again'));
    await other.query('ROLLBACK');
  });
  await recovery(() => rename(locked, 'Unlocked'));
});

it('a table that another client of the database has locked gets 503, not 500, even for reads that share a connection', async t => {
  const { api, databaseUrl } = await aShop(t, await aDatabase(t), {
    // One of them for reads.
    PETSTORE_DATABASE_CONNECTIONS: '3',
  });
  const petId = await aPet(api);
  await withSession(databaseUrl, async other => {
    await other.query('BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    // None of these statements was sent before, so that each must still be prepared.
    const reads = Array.from({ length: 20 }, () => api.get(`/store/inventory/${petId}`));
    (await respondedInTime(reads)).forEach(assertUnavailable);
    await other.query('ROLLBACK');
  });
  await recovery(() => api.get(`/store/inventory/${petId}`));
});
