import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import * as pets from '../../src/catalog/pets/pets.ts';
import { SearchIndex } from '../../src/catalog/pets/search/search-index.ts';
import type { Database, Transaction } from '../../src/db/database.ts';
import { sweepSlice } from '../../src/events/webhooks/sweep.ts';
import { deleteSecretsExpiredBefore } from '../../src/events/webhooks/webhook-queries.ts';
import { deleteOutcomesBefore, insertOutcome, selectOutcome } from '../../src/http/idempotency-queries.ts';
import { openPostgresStore } from '../support/engines.ts';
import { holdLocks } from '../support/hold-writes.ts';
import { until } from '../support/until.ts';

const WAITING = `SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE NOT granted AND datname = current_database()`;

const KEY = `INSERT INTO api_keys (id, name, name_key, hash, kind, plan, scopes, created_at)
  VALUES (1, 'a', 'a', sha256('a'), 'secret', 'free', '', 0)`;

const WEBHOOK = `INSERT INTO webhooks (id, api_key_id, url, enabled, secret, previous_secret, previous_secret_expires_at, position, created_at)
  VALUES (1, 1, 'https://shop.example/', 1, 'b', 'a', 1, 0, 0)`;

const DELIVERY = `INSERT INTO webhook_deliveries (id, webhook_id, event_id, type, subject, payload, status, created_at, finished_at)
  VALUES (1, 1, 1, 'pet.created', 'pets/1', '{}', 'dead', 0, 1)`;

const attempts = (
  last: number,
) => `INSERT INTO webhook_attempts (delivery_id, number, started_at, duration_ms)
  SELECT 1, number, 0, 0 FROM generate_series(1, ${last}) AS number`;

const TIMES = { before: 2, now: 2 };

/** Runs a sweep while a transaction changes the same row, which is committed afterwards. */
async function sweepDuring(
  t: TestContext,
  prepared: readonly string[],
  change: (tx: Transaction) => Promise<unknown>,
  sweep: (db: Database) => Promise<unknown>,
): Promise<Database> {
  const { db, openAgain } = await openPostgresStore(t);
  const other = await openAgain();
  for (const sql of prepared) await db.run(sql);
  const commit = await holdLocks(other, change);
  try {
    await sweep(db);
  } finally {
    await commit();
  }
  return db;
}

it('the sweep on PostgreSQL keeps the outcome of an Idempotency-Key that expires and is used again meanwhile', async t => {
  const outcome = { fingerprint: Buffer.alloc(32), location: null, body: '{}' };
  const expired = `INSERT INTO idempotency_keys VALUES (1, 'basket', sha256('a'), NULL, '{}', 1)`;
  const db = await sweepDuring(
    t,
    [KEY, expired],
    tx => insertOutcome(tx, 1, 'basket', outcome, 3),
    db => deleteOutcomesBefore(db, 2, 500),
  );
  assert.deepEqual(await selectOutcome(db, 1, 'basket', 2), outcome);
});

it('the sweep on PostgreSQL keeps the previous secret of a webhook that is rotated meanwhile', async t => {
  const rotation = "UPDATE webhooks SET secret = 'c', previous_secret = 'b', previous_secret_expires_at = 3";
  const db = await sweepDuring(
    t,
    [KEY, WEBHOOK],
    tx => tx.run(rotation),
    db => deleteSecretsExpiredBefore(db, 2, 200),
  );
  assert.deepEqual(await db.all('SELECT previous_secret FROM webhooks'), [{ previous_secret: 'b' }]);
});

it('the sweep on PostgreSQL keeps a delivery that is redelivered meanwhile, and its attempts', async t => {
  const db = await sweepDuring(
    t,
    [KEY, WEBHOOK, DELIVERY, attempts(1)],
    tx => tx.run("UPDATE webhook_deliveries SET status = 'pending', finished_at = NULL"),
    async db => {
      while (await sweepSlice(db, TIMES));
    },
  );
  assert.deepEqual(await db.all('SELECT delivery_id FROM webhook_attempts'), [{ delivery_id: 1 }]);
});

it('the sweep on PostgreSQL commits before it waits for a webhook, so that no change of the webhook waits for the sweep', async t => {
  const disabling = 'UPDATE webhooks SET enabled = 0, disabled_at = 1';
  const pending = "UPDATE webhook_deliveries SET status = 'pending', finished_at = NULL";
  const db = await sweepDuring(
    t,
    [KEY, WEBHOOK, disabling, DELIVERY, pending],
    tx => tx.lock('webhook 1'),
    db => sweepSlice(db, TIMES),
  );
  assert.deepEqual(await db.all('SELECT previous_secret FROM webhooks'), [{ previous_secret: null }]);
});

it('the sweep on PostgreSQL keeps the deliveries of a webhook that is enabled again while the sweep waits for it', async t => {
  const { db, openAgain } = await openPostgresStore(t);
  const other = await openAgain();
  const disabling = 'UPDATE webhooks SET enabled = 0, disabled_at = 1';
  const pending = "UPDATE webhook_deliveries SET status = 'pending', finished_at = NULL";
  for (const sql of [KEY, WEBHOOK, disabling, DELIVERY, pending]) await db.run(sql);
  const enabled = await holdLocks(other, async tx => {
    await tx.lock('webhook 1');
    await tx.run('UPDATE webhooks SET enabled = 1, disabled_at = NULL');
  });
  const swept = sweepSlice(db, TIMES);
  await until('the sweep waits', async () => (await other.all(WAITING)).length > 0);
  await enabled();
  await swept;
  assert.deepEqual(await db.all('SELECT status FROM webhook_deliveries'), [{ status: 'pending' }]);
});

it('two sweeps on PostgreSQL leave no deliveries of a deleted webhook', async t => {
  const { db, openAgain } = await openPostgresStore(t);
  const other = await openAgain();
  const deleting =
    'UPDATE webhooks SET deleted_at = 1, previous_secret = NULL, previous_secret_expires_at = NULL';
  for (const sql of [KEY, WEBHOOK, deleting, DELIVERY, attempts(1_000)]) await db.run(sql);
  // It deletes all attempts, and not yet the delivery.
  const commit = await holdLocks(other, tx => sweepSlice(tx, { before: 0, now: 2 }));
  const swept = sweepSlice(db, { before: 0, now: 2 });
  await Promise.race([swept, until('the sweep waits', async () => (await other.all(WAITING)).length > 0)]);
  await commit();
  await swept;
  while (await sweepSlice(db, { before: 0, now: 2 }));
  assert.deepEqual(await db.all('SELECT id FROM webhook_deliveries'), []);
});

it('the sweep on PostgreSQL stores no words of the old name of a pet that is renamed while the sweep waits for it', async t => {
  const { db, openAgain } = await openPostgresStore(t);
  const other = await openAgain();
  const index = new SearchIndex({ db, onLate: () => {} });
  await db.run("INSERT INTO categories (id, name, name_key) VALUES (1, 'Dogs', 'dogs')");
  const { id } = await db.write(tx => pets.create(tx, { name: 'Old Rex', categoryId: 1 }));
  // As an interrupted long write leaves them.
  await db.run('DELETE FROM pet_words');
  await db.run('INSERT INTO pets_to_index (pet_id, indexed_name) VALUES (?, NULL)', [id]);
  const rename = await holdLocks(other, tx => pets.update(tx, id, pet => ({ ...pet, name: 'New Max' })));
  const swept = index.sweep();
  await until('the sweep waits', async () => (await other.all(WAITING)).length > 0);
  await rename();
  await swept;
  while (await index.sweep());
  assert.deepEqual(await db.all('SELECT word FROM pet_words'), [{ word: 'max' }]);
});
