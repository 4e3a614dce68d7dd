import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import pg from 'pg';
import { CopyFailed, copyStore } from '../../src/db/copy-store.ts';
import { migrateSqlite } from '../../src/db/migrate-sqlite.ts';
import { serviceEvents } from '../../src/events/event-log/service-events.ts';
import { emptyPostgres } from '../support/engines.ts';
import { isLong } from '../support/long.ts';
import { NEXT_SCHEMA, nextVersion } from '../support/next-version.ts';
import { numbersTo } from '../support/numbers.ts';
import { assertExplained, dataDirectory, run, serve, start } from '../support/service-process.ts';
import { TestClock } from '../support/test-clock.ts';
import { newDatabase, rowsIn } from '../support/test-store.ts';
import { until } from '../support/until.ts';
import { everyResponse, fill, firstOrder, onStore } from './copied-shop.ts';

const event = serviceEvents.newEvent('service.store_migrated', 0, { command: 'migrate-store' });

/** An embedded store, and a database without rows. */
async function stores(t: TestContext) {
  const directory = dataDirectory(t);
  const database = await newDatabase();
  const client = new pg.Client(database.url);
  await client.connect();
  t.after(async () => {
    await client.end();
    await database.drop();
  });
  const embedded = { PETSTORE_DATA: directory };
  const environment = { ...embedded, DATABASE_URL: database.url };
  const query = async (sql: string) => (await client.query({ text: sql, rowMode: 'array' })).rows;
  return { directory, embedded, environment, query };
}

type Query = Awaited<ReturnType<typeof stores>>['query'];

/** Makes PostgreSQL execute a statement before it inserts a row into a table. */
function beforeInsert(query: Query, table: string, statement: string): Promise<void> {
  return onInsert(query, statement, `TRIGGER planted BEFORE INSERT ON ${table}`);
}

/** The same at the end of a transaction that inserts one. */
function atCommit(query: Query, table: string, statement: string): Promise<void> {
  const trigger = `CONSTRAINT TRIGGER planted AFTER INSERT ON ${table} INITIALLY DEFERRED`;
  return onInsert(query, statement, trigger);
}

async function onInsert(query: Query, statement: string, trigger: string): Promise<void> {
  await query(`CREATE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN ${statement}; RETURN NEW; END $$`);
  await query(`CREATE ${trigger} FOR EACH ROW EXECUTE FUNCTION planted()`);
}

/** Fills an embedded store with this many animals in one statement. */
function addPets(directory: string, pets: number): void {
  const db = new BetterSqlite3(join(directory, 'petstore.db'));
  db.pragma('journal_mode = WAL');
  migrateSqlite(db);
  db.exec(`
    INSERT INTO categories (name, name_key) VALUES ('Dogs', 'dogs');
    INSERT INTO pets (name, name_key, category_id, status, quantity)
      ${numbersTo(pets)} SELECT 'Biscuit ' || n, 'biscuit ' || n, 1, 'available', n FROM numbers;
    INSERT INTO orders (pet_id, quantity, complete) VALUES (1, 1, 0);
  `);
  db.close();
}

/** Asserts that there is no row, and that IDs start at 1. Those of `new_events` have no meaning. */
async function assertEmpty(query: Query): Promise<void> {
  const [[rows]] = (await query(
    `SELECT (SELECT count(*) FROM categories) + (SELECT count(*) FROM pets) + (SELECT count(*) FROM orders)
          + (SELECT count(*) FROM api_keys)`,
  )) as [[string]];
  assert.equal(rows, '0');
  assert.deepEqual(
    await query(`SELECT DISTINCT last_value FROM pg_sequences
      WHERE last_value IS NOT NULL AND sequencename NOT LIKE 'new_events%'`),
    [],
  );
}

describe('a shop that moves to PostgreSQL', () => {
  it('returns the same response to every request, and has the same keys, bans and outcomes', async t => {
    const { embedded, environment, query } = await stores(t);
    const clock = new TestClock();
    const secrets = await fill(embedded, clock);
    const { code, stdout, stderr } = await run(t, ['migrate-store'], environment);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^table +\| +embedded \| PostgreSQL\n/);
    assert.match(stdout, /\npets +\| +25 \| +25\n/);
    assert.match(stdout, /\nidempotency_keys +\| +2 \| +2\n/);
    assert.doesNotMatch(stdout + stderr, /psk_/);

    // The only difference between the stores is the event of the move.
    const [[moved]] = (await query(
      'DELETE FROM new_events RETURNING json_build_array(type, subject, actor, data)',
    )) as [[string[]]];
    assert.deepEqual(moved, ['service.store_migrated', 'service', 'system', '{"command":"migrate-store"}']);
    const before = await onStore(embedded, clock, ({ connect }) => everyResponse(connect(secrets.admin)));
    const after = await onStore(environment, clock, ({ connect }) => everyResponse(connect(secrets.admin)));
    assert.ok(before.length > 100, `only ${before.length} requests were compared`);
    assert.deepEqual(after, before);

    await onStore(environment, clock, async ({ connect }) => {
      for (const name of ['previous', 'current'] as const) {
        assert.equal((await connect(secrets[name]).get('/pets')).status, 200, name);
      }
      assert.equal((await connect(secrets.banned).get('/pets')).body.code, 'api_key_banned');

      const api = connect(secrets.admin);
      const again = await api.post('/store/orders', firstOrder, { 'idempotency-key': 'first' });
      assert.deepEqual([again.status, again.headers['idempotency-replayed']], [201, 'true']);
      assert.deepEqual([again.body.id, again.body.petId], [1, firstOrder.petId]);
      const ids = [
        await api.post('/categories', { name: 'Cats' }),
        await api.post('/pets', { name: 'Mia', categoryId: 1 }),
        await api.post('/store/orders', {}),
        await api.post('/keys', { name: 'Next', plan: 'free', scopes: ['pets:read'] }),
      ].map(({ body }) => body.id);
      assert.deepEqual(ids, [3, 27, 6, 5]);
    });
  });

  it('can also move from a store and to a database of the version before', async t => {
    const { directory, environment, query } = await stores(t);
    addPets(directory, 3);
    const main = join(nextVersion(t), 'service/src/main.ts');
    const { code, stderr } = await run(t, ['migrate-store'], environment, main);
    assert.equal(code, 0, stderr);
    assert.deepEqual(await query('SELECT count(*) FROM pets'), [['3']]);
    assert.deepEqual(await query('SELECT name, motto FROM categories'), [['Dogs', null]]);
    assert.deepEqual(await query('SELECT max(version) FROM schema_migrations'), [[NEXT_SCHEMA]]);
  });

  it('in several batches of rows, also when the database limits the time of statements', async t => {
    const { directory, environment, query } = await stores(t);
    addPets(directory, 3_000);
    const name = new URL(environment.DATABASE_URL).pathname.slice(1);
    await query(`ALTER DATABASE ${name} SET statement_timeout = '1min'`);
    await beforeInsert(query, 'orders', "ASSERT current_setting('statement_timeout') = '0'");
    const { mock } = t.mock.method(pg.Client.prototype, 'query');
    await copyStore({ directory, databaseUrl: environment.DATABASE_URL, event });
    const batches = mock.calls.filter(call => String(call.arguments[0]).startsWith('INSERT INTO pets ('));
    assert.ok(batches.length > 1 && batches.length < 10, `${batches.length} batches`);
    assert.deepEqual(await query('SELECT count(*), max(id) FROM pets'), [['3000', '3000']]);
    assert.deepEqual(await query("SELECT reltuples FROM pg_class WHERE relname = 'pets'"), [[3000]]);
  });

  it('needs no more memory when it is large', { skip: !isLong && 'npm run test:long' }, async t => {
    const peak = async (pets: number) => {
      const { directory, environment, query } = await stores(t);
      addPets(directory, pets);
      const startedAt = performance.now();
      // Megabytes, as the process itself reports at its end.
      const report =
        'process.on("exit", () => process.stderr.write("peak " + process.resourceUsage().maxRSS))';
      const { code, stderr } = await run(t, ['migrate-store'], {
        ...environment,
        // A heap of 24 MB is too small for all the rows at once, and garbage that is collected late does not count.
        NODE_OPTIONS: `--max-old-space-size=24 --import=data:text/javascript,${encodeURIComponent(report)}`,
      });
      assert.equal(code, 0, stderr);
      assert.deepEqual(await query('SELECT count(*), max(id) FROM pets'), [[String(pets), String(pets)]]);
      const megabytes = Number(/peak (\d+)/.exec(stderr)?.[1]) / 1024;
      t.diagnostic(
        `${pets} pets: ${megabytes.toFixed()} MB, ${(performance.now() - startedAt).toFixed()} ms`,
      );
      return megabytes;
    };
    const small = await peak(1_000);
    const large = await peak(100_000);
    assert.ok(large - small < 80, `${small} MB for 1,000 pets, but ${large} MB for 100,000`);
  });
});

describe('a shop does not move', () => {
  it('without a database or a store', async t => {
    const { environment, embedded } = await stores(t);
    assertExplained(
      await run(t, ['migrate-store'], embedded),
      /^DATABASE_URL is not set: set it to the PostgreSQL database/,
    );
    assertExplained(await run(t, ['migrate-store'], environment), /^There is no store in .*: PETSTORE_DATA/);
    assert.ok(!existsSync(join(environment.PETSTORE_DATA, 'petstore.db')));
  });

  it('to a database that has rows, and names the table', async t => {
    const { directory, environment, query } = await stores(t);
    addPets(directory, 2);
    await query("INSERT INTO categories (name, name_key) VALUES ('Cats', 'cats')");
    assertExplained(
      await run(t, ['migrate-store'], environment),
      /is not empty: it has rows in categories\./,
    );
    assert.deepEqual(await query('SELECT count(*) FROM pets'), [['0']]);
    assert.deepEqual(await query('SELECT name FROM categories'), [['Cats']]);
  });

  it('to a database with an encoding other than UTF8', async t => {
    const directory = dataDirectory(t);
    addPets(directory, 1);
    const encoding = "ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0";
    const url = await emptyPostgres(t, encoding);
    assertExplained(
      await run(t, ['migrate-store'], { PETSTORE_DATA: directory, DATABASE_URL: url }),
      /encoding.* must be UTF8/,
    );
    assert.deepEqual(await rowsIn(url, "SELECT 1 FROM pg_tables WHERE schemaname = 'public'"), []);
  });

  it('while a service or a command has the store open, even an idle one', async t => {
    const { directory, environment, query } = await stores(t);
    const service = await serve(t, directory);
    const { code, stderr } = await run(t, ['migrate-store'], environment);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^The store in \S+ is in use by process \d+ of host .*: stop it, or set PETSTORE_DATA/,
    );
    await assertEmpty(query);
    assert.equal((await service.end('SIGTERM')).code, 0);

    const command = new BetterSqlite3(join(directory, 'petstore.db'));
    command.prepare('SELECT count(*) FROM pets').get();
    assertExplained(await run(t, ['migrate-store'], environment), /is in use: wait for the command/);
    command.close();
    assert.equal((await run(t, ['migrate-store'], environment)).code, 0);
  });

  it('partly: killed in the middle it stores nothing, and no process can write in the meantime', async t => {
    const { directory, environment, query } = await stores(t);
    addPets(directory, 2_000);
    // The copy reaches the orders, and waits there for the test.
    await beforeInsert(query, 'orders', 'PERFORM pg_advisory_xact_lock(1)');
    await query('SELECT pg_advisory_lock(1)');
    const copy = start(t, ['migrate-store'], environment);
    // Other tests wait for locks in other databases of the server.
    const waiting = `SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = database
      WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted`;
    const isWaiting = async () => (await query(waiting)).length === 1;
    await until('the copy waits for the test', isWaiting);

    const other = new BetterSqlite3(join(directory, 'petstore.db'), { timeout: 0 });
    assert.throws(() => other.exec('BEGIN IMMEDIATE'), { code: 'SQLITE_BUSY' });
    other.close();
    const read = rowsIn(environment.DATABASE_URL, 'SET lock_timeout = 1; SELECT 1 FROM webhooks');
    await assert.rejects(read, /due to lock timeout/);

    await copy.end('SIGKILL');
    await query('SELECT pg_advisory_unlock(1)');
    const connections = () =>
      query(`SELECT 1 FROM pg_stat_activity
             WHERE datname = current_database() AND application_name LIKE 'petstore%'`);
    await until('the connections of the copy are closed', async () => (await connections()).length === 0);
    await assertEmpty(query);

    await query('DROP TRIGGER planted ON orders');
    assert.equal((await run(t, ['migrate-store'], environment)).code, 0);
    assert.deepEqual(await query('SELECT count(*) FROM pets'), [['2000']]);
  });

  const failures: [when: string, plant: (query: Query) => Promise<unknown>, message: RegExp][] = [
    [
      'one letter of the copy differs',
      query => beforeInsert(query, 'pets', "NEW.name = replace(NEW.name, '2', '3')"),
      /^The copy of pets differs, so nothing was stored: name_sum is \d+ in the embedded store and \d+ in PostgreSQL/,
    ],
    [
      'its connection breaks',
      query => beforeInsert(query, 'orders', 'PERFORM pg_terminate_backend(pg_backend_pid())'),
      /^The copy failed at orders, and nothing was stored: terminating connection/,
    ],
    [
      'its connection breaks at the end, which it reports as unknown',
      // No table of the copy: after its rows each of them is altered, which PostgreSQL rejects while a trigger waits.
      query => atCommit(query, 'new_events', 'PERFORM pg_terminate_backend(pg_backend_pid())'),
      /^COMMIT failed, so either the whole copy was stored or nothing: terminating connection/,
    ],
    [
      'PostgreSQL rejects the end, which it does not report as a broken connection',
      query =>
        atCommit(query, 'new_events', "RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'no space left'"),
      /^COMMIT failed, so either the whole copy was stored or nothing: no space left\. Try again/,
    ],
    [
      'PostgreSQL rejects a row, and names its table',
      query => query('ALTER TABLE pets ADD CHECK (quantity < 2)'),
      /^The copy failed at pets, and nothing was stored: new row .* violates check constraint/,
    ],
  ];
  for (const [when, plant, message] of failures) {
    it(`when ${when}`, async t => {
      const { directory, environment, query } = await stores(t);
      addPets(directory, 2);
      await plant(query);
      await assert.rejects(
        copyStore({ directory, databaseUrl: environment.DATABASE_URL, event }),
        error => error instanceof CopyFailed && message.test(error.message),
      );
      await assertEmpty(query);
    });
  }
});
