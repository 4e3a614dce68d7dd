import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { it } from 'node:test';
import { EVENT_DAYS } from '../../src/contract/defaults.ts';
import type { Database, Value } from '../../src/db/database.ts';
import { NO_SEAL } from '../../src/db/event-seals.ts';
import { selectWaitingWebhook } from '../../src/events/webhooks/webhook-queries.ts';
import { DAY, HOUR, MINUTE } from '../../src/kit/clock.ts';
import type { Client } from '../support/client.ts';
import { numbersTo } from '../support/numbers.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

/** More rows than one slice. The last one has not expired. */
const ROWS = 1_200;

/** How many rows one statement of a sweep may delete. */
const MAX_SLICE = 1_000;

interface Expiring {
  table: string;
  columns: string;
  /** Returns the values of a row that was written `age` milliseconds ago. */
  row: (place: number, age: number, now: number) => Value[];
  /** How long a row is retained, in milliseconds. */
  retention: number;
}

const expiring: Expiring[] = [
  {
    table: 'idempotency_keys',
    columns: 'api_key_id, idempotency_key, fingerprint, body, created_at',
    row: (place, age, now) => [1, `key ${place}`, randomBytes(32), '{}', now - age],
    retention: DAY,
  },
  {
    table: 'events',
    columns: 'id, type, subject, time, data, actor',
    row: (place, age, now) => [1_000 + place, 'pet.updated', 'pets/1', now - age, '{}', 'system'],
    retention: EVENT_DAYS * DAY,
  },
  {
    table: 'webhook_deliveries',
    columns: 'webhook_id, event_id, type, subject, payload, status, created_at, finished_at',
    row: (place, age, now) => [1, place, 'pet.updated', 'pets/1', '{}', 'delivered', now - age, now - age],
    retention: EVENT_DAYS * DAY,
  },
  {
    table: 'previous_secrets',
    columns: 'hash, api_key_id, expires_at',
    row: (_place, age, now) => [randomBytes(32), 1, now - age],
    retention: 0,
  },
  {
    table: 'key_usage',
    columns: 'api_key_id, day, resets, admitted, rejected, earlier_admitted, earlier_rejected',
    row: (place, age, now) => [place + 1, Math.floor((now - age) / DAY), 0, 1, 0, 0, 0],
    // The day 89 days ago is the last of the 90, and the test starts at noon.
    retention: 89.5 * DAY,
  },
  {
    table: 'key_limits',
    columns:
      'api_key_id, resets, minute, minute_used, full_minutes, busy_minute, busy_limit, rejected_at, wait_until, strikes, banned_at, banned_until, bans',
    row: (place, age, now) => [
      place + 1,
      0,
      Math.floor((now - age) / MINUTE),
      1,
      1,
      0,
      0,
      0,
      0,
      '[]',
      0,
      0,
      0,
    ],
    // Until the UTC day ends.
    retention: 0.5 * DAY,
  },
  {
    table: 'quota_warnings',
    columns: 'api_key_id, day, of_window, percent, quota, resets, passed_at',
    row: (place, age, now) => [place + 1, Math.floor((now - age) / DAY), 'day', 80, 60, 0, now - age],
    // The day seven days ago is the last one, and the test starts at noon.
    retention: 7.5 * DAY,
  },
];

async function insert(db: Database, table: string, columns: string, rows: Value[][]): Promise<void> {
  const places = rows[0]!.map(() => '?').join(', ');
  await db.write(async tx => {
    for (const row of rows) await tx.run(`INSERT INTO ${table} (${columns}) VALUES (${places})`, row);
  });
}

/** Fills every table with rows that have expired, and one that expires later. */
async function fill({ app: { db }, clock }: TestApp): Promise<void> {
  const now = clock.now();
  // The keys that rows refer to.
  const keys = Array.from({ length: ROWS }, (_, i) => [
    ...[i + 2, `Key ${i + 2}`, `key ${i + 2}`, randomBytes(32), 'secret', 'free', 'pets:read', now],
  ]);
  await insert(db, 'api_keys', 'id, name, name_key, hash, kind, plan, scopes, created_at', keys);
  // An event that gets its number later would be one row too many.
  await db.numberEvents();
  await db.run('DELETE FROM events');
  for (const { table, columns, row, retention } of expiring) {
    const rows = Array.from({ length: ROWS }, (_, i) => {
      const hasExpired = i < ROWS - 1;
      return row(i, hasExpired ? retention + DAY + HOUR : retention - HOUR, now);
    });
    await insert(db, table, columns, rows);
  }
  // Events expire by groups.
  await db.run('DELETE FROM event_seals');
  await db.run(
    `INSERT INTO event_seals (last_id, first_id, seal, digests, time) SELECT id, id, '${NO_SEAL}', '', time FROM events`,
  );
}

async function counts(db: Database): Promise<Record<string, number>> {
  const counted = expiring.map(async ({ table }) => {
    const row = await db.get<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`);
    return [table, row!.rows];
  });
  return Object.fromEntries(await Promise.all(counted));
}

const oneOfEach = Object.fromEntries(expiring.map(({ table }) => [table, 1]));

it('expired rows are deleted in slices, and no row is deleted before it expires', async t => {
  const shop = await startTestApp(t);
  const { db, sweeper } = shop.app;
  await sweeper.run();
  await fill(shop);
  const run = db.run.bind(db);
  const slices: number[] = [];
  db.run = async (...statement) => {
    const changed = await run(...statement);
    slices.push(changed);
    return changed;
  };
  await sweeper.run();
  assert.deepEqual(await counts(db), oneOfEach);
  assert.ok(Math.max(...slices) <= MAX_SLICE, `${slices}`);
  shop.clock.advance(3 * HOUR);
  await sweeper.run();
  assert.deepEqual((await counts(db)).idempotency_keys, 0);
});

it('the stored strikes of batches that are too large remain while they count, also after midnight', async t => {
  const environment = { PETSTORE_BAN_STRIKES: '2', PETSTORE_BAN_STRIKES_SECONDS: '3600' };
  const shop = await startTestApp(t, { environment });
  const quotas = { perMinute: 2, perDay: 10 };
  const { key } = await shop.clientWith({ plan: 'enterprise', quotas });
  const strike = async (api: Client) => {
    assert.equal((await api.as(key).get('/pets')).status, 200);
    const operations = Array(2).fill({ method: 'POST', path: '/store/orders', body: {} });
    return (await api.as(key).post('/batch', { operations })).body.code;
  };
  shop.clock.set('2026-11-21T23:45:00Z');
  assert.equal(await strike(shop.api), 'rate_limit_exceeded');
  await shop.app.keyLimits.flush();
  shop.clock.set('2026-11-22T00:15:00Z');
  await shop.app.sweeper.run();
  const { api } = await shop.restart();
  assert.equal(await strike(api), 'api_key_banned');
});

it('warnings from a clock that was more than a day ahead are deleted, so that they can be given on their day', async t => {
  const shop = await startTestApp(t);
  const { db, sweeper } = shop.app;
  const { table, columns, row } = expiring.find(({ table }) => table === 'quota_warnings')!;
  const now = shop.clock.now();
  await insert(
    db,
    table,
    columns,
    [0, 1, 2, 30].map(days => row(0, -days * DAY, now)),
  );
  await sweeper.run();
  const left = await db.all<{ day: number }>('SELECT day FROM quota_warnings ORDER BY day');
  assert.deepEqual(
    left.map(({ day }) => day - Math.floor(now / DAY)),
    [0, 1],
  );
});

it('earlier secrets of webhooks are all deleted in the round after their end', async t => {
  const shop = await startTestApp(t);
  const { db, sweeper } = shop.app;
  const now = shop.clock.now();
  const rows = Array.from({ length: 401 }, () => [
    ...[1, 'https://a.example/', 0, now, 'whsec_b', 0, now, 'whsec_a', now - 1],
  ]);
  const columns =
    'api_key_id, url, enabled, disabled_at, secret, position, created_at, previous_secret, previous_secret_expires_at';
  await insert(db, 'webhooks', columns, rows);
  await sweeper.run();
  const left = await db.get('SELECT 1 FROM webhooks WHERE previous_secret IS NOT NULL');
  assert.equal(left, undefined);
});

it('the sweep of deliveries that wait for a disabled webhook reads no webhook that is enabled', async t => {
  const { db } = (await startTestApp(t)).app;
  await db.run(
    `${numbersTo(20_000)} INSERT INTO webhooks (api_key_id, url, enabled, secret, position, created_at)
     SELECT 1, 'https://a.example/', 1, 'whsec_a', 0, 0 FROM numbers`,
  );
  await db.run('ANALYZE webhooks');
  const explain = db.engine === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
  const explained: Pick<Database, 'get'> = {
    get: async (sql, values) => JSON.stringify(await db.all(`${explain} ${sql}`, values)) as never,
  };
  const plan = await selectWaitingWebhook(explained as Database, 1);
  assert.match(`${plan}`, /webhooks_disabled/);
});
