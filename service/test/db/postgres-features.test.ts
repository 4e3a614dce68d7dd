import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import pg from 'pg';
import { StoreUnavailable, UnusableStore } from '../../src/db/database.ts';
import { EVENTS } from '../../src/db/notices.ts';
import { openPostgres, type PostgresOptions } from '../../src/db/postgres.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { DatabaseProxy } from '../support/database-proxy.ts';
import { emptyPostgres, postgresOptions } from '../support/engines.ts';
import { dataDirectory, serve } from '../support/service-process.ts';
import { newDatabase, withSession } from '../support/test-store.ts';
import { until } from '../support/until.ts';

/** Opens a database that must be rejected. Returns the message, without the version of the engine. */
async function rejectionOf(url: string): Promise<string> {
  const error = await openPostgres(postgresOptions(url)).then(
    async db => {
      await db.close();
      return assert.fail('The database was accepted');
    },
    (error: Error) => error,
  );
  assert.ok(error instanceof UnusableStore, String(error));
  assert.match(error.message, /It is PostgreSQL 15\.\d+ .*docs\/operations\.md lists all features/);
  return /its engine lacks (.*?): use PostgreSQL 15 or newer/.exec(error.message)?.[1] ?? error.message;
}

/** A database that a statement changes first, so that it lacks a feature. */
async function without(t: TestContext, statements: (name: string) => string): Promise<string> {
  const url = await emptyPostgres(t);
  const session = new pg.Client(url);
  await session.connect();
  await session.query(statements(new URL(url).pathname.slice(1)));
  await session.end();
  return url;
}

/** A database behind a network that replaces a text in each statement. */
async function replacing(t: TestContext, text: string, by: string): Promise<string> {
  assert.equal(text.length, by.length);
  const network = await DatabaseProxy.between(t, await emptyPostgres(t));
  network.replacement = [text, by];
  return network.url;
}

describe('an engine is rejected in one sentence that names what it lacks:', () => {
  const EARLIER = (functions: string) => (name: string) =>
    `CREATE SCHEMA planted; ${functions}; ALTER DATABASE ${name} SET search_path = planted, pg_catalog, public`;
  const lacking: Record<string, [feature: RegExp, url: (t: TestContext) => Promise<string>]> = {
    'locks that are stubs': [
      /^locks by name \(pg_advisory_xact_lock\) that the server holds$/,
      t =>
        without(
          t,
          EARLIER("CREATE FUNCTION planted.pg_advisory_xact_lock(bigint) RETURNS void LANGUAGE sql AS ''"),
        ),
    ],
    'locks that only say whether they are free': [
      /^locks by name that exclude other sessions$/,
      t =>
        without(
          t,
          EARLIER(
            `CREATE FUNCTION planted.pg_try_advisory_xact_lock(bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true'`,
          ),
        ),
    ],
    'triggers that do not fire': [
      /^foreign keys over generated columns, which triggers of the server check$/,
      t => without(t, name => `ALTER DATABASE ${name} SET session_replication_role = replica`),
    ],
    'savepoints that undo nothing': [
      /^savepoints that undo changes$/,
      t => replacing(t, 'ROLLBACK TO part', 'RELEASE     part'),
    ],
    'READ COMMITTED that is something else': [
      /^READ COMMITTED, in which a statement sees what was committed before it$/,
      t => replacing(t, 'READ COMMITTED', 'SERIALIZABLE  '),
    ],
    'waits for locks without a limit': [
      /^locks by name that exclude other sessions$/,
      t => replacing(t, "lock_timeout = '1ms'", "work_mem     = '1MB'"),
    ],
    'changes in WITH clauses': [
      /^changes in WITH clauses \(.*\)$/,
      t => replacing(t, 'WITH taken AS (DELETE', 'WITH taken AS (DELETA'),
    ],
    'ON CONFLICT': [
      /^INSERT … ON CONFLICT \(.*\)$/,
      t => replacing(t, 'ON CONFLICT DO NOTHING', 'ON CONFLICS DO NOTHING'),
    ],
    'generated columns': [
      /^temporary tables, identities and generated columns \(.*\)$/,
      t => replacing(t, ') STORED', ') STORES'),
    ],
    'a function': [
      /^the functions .*pg_logical_emit_message.*$/,
      t => replacing(t, "'pg_logical_emit_message", "'pg_logical_emit_massage"),
    ],
    'the function that reads rows to insert': [
      /^the functions .*json_to_recordset.*$/,
      t => replacing(t, "'json_to_recordset", "'json_ta_recordset"),
    ],
  };
  for (const [what, [feature, url]] of Object.entries(lacking)) {
    it(what, async t => assert.match(await rejectionOf(await url(t)), feature));
  }
});

describe('an engine whose notifications do not arrive', () => {
  for (const [text, by] of [
    ['LISTEN ', 'NOTIFY '],
    ['LISTEN ', 'LISTAN '],
  ] as const) {
    it(`is polled for events, which it reports once (${by.trim()} for LISTEN)`, async t => {
      const url = await replacing(t, text, by);
      let reports = 0;
      const options: Partial<PostgresOptions> = { onPolling: () => void reports++ };
      const db = await openPostgres(postgresOptions(url, options));
      assert.equal(reports, 1);
      let calls = 0;
      db.onNotice(EVENTS, () => void calls++);
      await until('it was polled twice', () => calls >= 2);
      await db.close();
    });
  }

  it('is named in the log of the service', async t => {
    const url = await replacing(t, 'LISTEN ', 'NOTIFY ');
    const service = await serve(t, dataDirectory(t), { DATABASE_URL: url });
    const { stdout } = await service.end('SIGTERM');
    assert.match(stdout, /^\{"level":40,.*"msg":"LISTEN and NOTIFY of the database do not reach/m);
  });
});

it('an engine is accepted when this process was too busy to read what arrived in time', async t => {
  const url = await emptyPostgres(t);
  const { query } = pg.Client.prototype;
  const lock = new Int32Array(new SharedArrayBuffer(4));
  t.mock.method(pg.Client.prototype, 'query', function (this: pg.Client, ...args: unknown[]) {
    // Longer than the check waits, once it waits.
    if (/lock_timeout|pg_notify/.test(String(args[0])))
      setImmediate(() => Atomics.wait(lock, 0, 0, 3.2 * SECOND));
    return Reflect.apply(query, this, args);
  });
  const db = await openPostgres(
    postgresOptions(url, { onPolling: () => assert.fail('it cannot receive notifications') }),
  );
  await db.close();
});

it('a server that ends the connections during the check is unavailable, and lacks nothing', async t => {
  const network = await DatabaseProxy.between(t, await emptyPostgres(t));
  network.fate = ['55P03', 'is cut off'];
  await assert.rejects(openPostgres(postgresOptions(network.url)), StoreUnavailable);
});

it('a server whose disk is full is accepted, because it serves reads', async t => {
  const { url, drop } = await newDatabase();
  t.after(drop);
  await withSession(url, session =>
    session.query(`
      CREATE FUNCTION planted() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN RAISE disk_full; END';
      CREATE EVENT TRIGGER planted ON ddl_command_start WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION planted()`),
  );
  const db = await openPostgres(postgresOptions(url));
  assert.deepEqual(await db.all('SELECT name FROM categories'), []);
  await db.close();
});

it('an engine that has everything is accepted, and keeps nothing of the check', async t => {
  const url = await emptyPostgres(t);
  await (await openPostgres(postgresOptions(url))).close();
  const session = new pg.Client(url);
  await session.connect();
  const { rows } = await session.query(
    "SELECT relname FROM pg_class WHERE relname LIKE 'probed%' UNION SELECT proname FROM pg_proc WHERE proname LIKE 'probe%'",
  );
  await session.end();
  assert.deepEqual(rows, []);
});
