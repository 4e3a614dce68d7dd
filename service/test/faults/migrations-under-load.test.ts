import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../../src/kit/clock.ts';
import { Ledger } from '../crash/ledger.ts';
import { assertSound, isOnShelf, stockShelf } from '../crash/shelf.ts';
import { WritingClient } from '../crash/write-load.ts';
import { type ApiResponse, Client } from '../support/client.ts';
import { sized } from '../support/long.ts';
import { addMigration, NEXT_SCHEMA, nextVersion } from '../support/next-version.ts';
import { Random } from '../support/random.ts';
import { run } from '../support/service-process.ts';
import { rowsIn, withSession } from '../support/test-store.ts';
import { aDatabase, aShop } from './shop-on-postgres.ts';

const ROUNDS = sized(2, 20);

const WRITERS = 8;
const READERS = 4;

/** After each read, in milliseconds: some are in progress at each instant of a migration, and the processor is for it. */
const PAUSE = 10;

/** The number of writes before, between and after the migrations. */
const WRITES_BETWEEN = 100;

/** How long a request of the old replica may wait for a migration, in milliseconds. Next to other tests the machine is busy. */
const LONGEST_WAIT = sized(10, 1) * SECOND;

/** A client that measures how long its requests take, in milliseconds. */
class TimedClient extends Client {
  /** Whether a migration runs. */
  isMigrating = false;
  readonly longest = { withoutMigration: 0, withMigration: 0 };
  requests = 0;

  override async send(...request: Parameters<Client['send']>): Promise<ApiResponse> {
    const startedAt = performance.now();
    let isDuring = this.isMigrating;
    const response = await super.send(...request);
    isDuring ||= this.isMigrating;
    const kind = isDuring ? 'withMigration' : 'withoutMigration';
    this.longest[kind] = Math.max(this.longest[kind], performance.now() - startedAt);
    this.requests++;
    return response;
  }
}

/** Changes every table that the load uses, in another order than the requests. */
const migrationOf = (round: number) => `
  LOCK TABLE categories, pets, orders, new_events, events IN ACCESS EXCLUSIVE MODE;
  ALTER TABLE events ADD COLUMN note_${round} TEXT;
  ALTER TABLE new_events ADD COLUMN note_${round} TEXT;
  ALTER TABLE orders ADD COLUMN note_${round} TEXT;
  CREATE INDEX events_by_note_${round} ON events (note_${round});
  ALTER TABLE pets ADD COLUMN category_${round} BIGINT REFERENCES categories (id);
  ALTER TABLE categories ADD COLUMN note_${round} TEXT NOT NULL DEFAULT '';
`;

/** Measures until the signal how long a transaction of a request waits for one of the migration, in milliseconds. */
async function longestLockWait(databaseUrl: string, signal: AbortSignal): Promise<number> {
  return withSession(databaseUrl, async connection => {
    let longest = 0;
    while (!signal.aborted) {
      const { rows } = await connection.query(LOCK_WAIT);
      longest = Math.max(longest, rows[0].wait);
      await sleep(10);
    }
    return longest;
  });
}

/**
 * Only a migration locks tables exclusively; requests also wait for each other. The server has databases of other tests, which
 * have migrations of their own.
 */
const LOCK_WAIT = `
  WITH locks AS (
    SELECT pid, mode, granted, waitstart
    FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE datname = current_database()
  )
  SELECT coalesce(max(extract(epoch FROM clock_timestamp() - request.waitstart) * 1000), 0)::float AS wait
  FROM locks AS request JOIN locks AS migration ON migration.pid = ANY (pg_blocking_pids(request.pid))
  WHERE NOT request.granted AND migration.mode = 'AccessExclusiveLock'`;

describe(`a next version whose migrations change every table of a shop with ${WRITERS + READERS} clients`, () => {
  it(`migrates ${ROUNDS} times without a failure, and no request of the old replica waits for more than ${LONGEST_WAIT / SECOND} s`, async t => {
    const { service, databaseUrl } = await aShop(t, await aDatabase(t), {
      PETSTORE_DATABASE_TIMEOUT_SECONDS: '30',
    });
    const next = nextVersion(t);
    const api = new TimedClient(service.url, service.adminKey);
    t.after(() => api.close());
    const ledger = new Ledger();
    const shelf = await stockShelf(api);
    const stopping = new AbortController();
    const read = async () => {
      while (!stopping.signal.aborted) {
        const { status, text } = await api.get('/pets?limit=5&status=available');
        assert.equal(status, 200, text);
        await sleep(PAUSE);
      }
    };
    const writers = Array.from({ length: WRITERS }, () =>
      new WritingClient(api, ledger, new Random(Date.now() | 0), shelf).writeUntil(stopping.signal),
    );
    const lockWait = longestLockWait(databaseUrl, stopping.signal);
    const clients = Promise.all([...writers, ...Array.from({ length: READERS }, read)]);
    const migrateOften = async () => {
      let first = 'Applied 0002-mottos\n';
      for (let round = 1; round <= ROUNDS; round++) {
        await ledger.hasGrownBy(WRITES_BETWEEN);
        const sql = migrationOf(round);
        const name = addMigration(next, NEXT_SCHEMA + round, `round-${round}`, { postgres: sql });
        const startedAt = performance.now();
        api.isMigrating = true;
        const { code, stdout, stderr } = await run(
          t,
          ['migrate'],
          { DATABASE_URL: databaseUrl },
          join(next, 'service/src/main.ts'),
        );
        api.isMigrating = false;
        assert.deepEqual(
          [code, stdout, stderr],
          [0, `${first}Applied ${name}\nThe schema is up to date\n`, ''],
        );
        first = '';
        t.diagnostic(`${name}: ${Math.round(performance.now() - startedAt)} ms`);
      }
      await ledger.hasGrownBy(WRITES_BETWEEN);
    };
    await Promise.race([migrateOften(), clients]);
    stopping.abort();
    await clients;
    const longestWait = Math.round(await lockWait);

    const query = (sql: string) => rowsIn<object>(databaseUrl, sql);
    await ledger.check(query, isOnShelf(shelf));
    await assertSound(query, shelf);
    const { withoutMigration, withMigration } = api.longest;
    const figures =
      `the longest request took ${Math.round(withMigration)} ms with a migration and ` +
      `${Math.round(withoutMigration)} ms without`;
    // On a busy machine requests take long without a migration as well, so only the waits for the migration are asserted.
    t.diagnostic(
      `${api.requests} requests, ${figures}; the longest wait for a migration was ${longestWait} ms`,
    );
    assert.ok(longestWait <= LONGEST_WAIT, `a request waited ${longestWait} ms for a migration`);
  });
});
