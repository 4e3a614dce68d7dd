import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Client } from 'pg';
import { StoreUnavailable } from '../../src/db/database.ts';
import { LIFT_LIMITS, migratePostgres } from '../../src/db/migrate-postgres.ts';
import { type Migration, readMigrations } from '../../src/db/migrations.ts';
import { LOCK } from '../../src/db/postgres-locks.ts';
import { prepareDatabase } from '../../src/db/postgres-start.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { emptyPostgres } from '../support/engines.ts';
import { newDatabase } from '../support/test-store.ts';
import { until } from '../support/until.ts';

/** The tables that existed before a migration and that it locks, against writes at least, by its first statement and by the others. */
async function lockedTables(sql: string): Promise<{ first: string[]; others: string[] }> {
  const { url, drop } = await newDatabase();
  const client = new Client(url);
  await client.connect();
  try {
    const before = await client.query("SELECT oid FROM pg_class WHERE relkind = 'r'");
    const locked = async () => {
      const { rows } = await client.query(
        `SELECT DISTINCT relname AS name FROM pg_locks JOIN pg_class ON relation = pg_class.oid
         WHERE pid = pg_backend_pid() AND relation = ANY ($1)
         AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock') ORDER BY name`,
        [before.rows.map(({ oid }) => oid)],
      );
      return rows.map(({ name }) => name as string);
    };
    await client.query('BEGIN');
    await client.query(sql.slice(0, sql.indexOf(';')));
    const first = await locked();
    await client.query(sql);
    const others = (await locked()).filter(name => !first.includes(name));
    return { first, others };
  } finally {
    await client.end();
    await drop();
  }
}

/** Three sessions of a database with the current schema. */
async function threeSessions(t: TestContext): Promise<[Client, Client, Client]> {
  const { url, drop } = await newDatabase();
  const sessions: [Client, Client, Client] = [new Client(url), new Client(url), new Client(url)];
  t.after(async () => {
    await Promise.all(sessions.map(session => session.end()));
    await drop();
  });
  await Promise.all(sessions.map(session => session.connect()));
  return sessions;
}

function planted(sql: string): Migration {
  const version = readMigrations('postgres').length + 1;
  return { version, name: `${version}-note`, sql };
}

const LOCK_TABLES = 'LOCK TABLE categories, pets IN ACCESS EXCLUSIVE MODE;';

// The timeout is for a migration that waits for a table without limit.
describe('migrations of PostgreSQL next to replicas', { timeout: 60_000 }, () => {
  it('wait for those of another replica for longer than the first queries of a start may take', async t => {
    const url = await emptyPostgres(t);
    const other = new Client(url);
    await other.connect();
    // The time limits of the first queries pass only when the test says so.
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const timeout = 5 * SECOND;
    try {
      await other.query('BEGIN');
      await other.query(LOCK, ['schema_migrations']);
      const prepared = prepareDatabase(url, timeout);
      // The start also waits for locks of its own, to check that the server has them.
      const waiting = 'SELECT 1 FROM pg_locks WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))';
      await until('the start waits', async () => (await other.query(waiting)).rows.length > 0);
      t.mock.timers.tick(3 * timeout);
      await other.query('COMMIT');
      assert.equal((await prepared).applied.length, readMigrations('postgres').length);
    } finally {
      await other.end();
    }
  });

  it('may take longer than the time limits of requests, which apply again afterwards', async t => {
    const [migrating] = await threeSessions(t);
    await migrating.query("SET statement_timeout = '1min'");
    const sql = "DO $$ BEGIN ASSERT current_setting('statement_timeout') = '0'; END $$";
    await migratePostgres(migrating, [...readMigrations('postgres'), planted(sql)]);
    const { rows } = await migrating.query('SHOW statement_timeout');
    assert.deepEqual(rows, [{ statement_timeout: '1min' }]);
    // PostgreSQL 17 or newer has this limit.
    assert.match(LIFT_LIMITS, /'transaction_timeout'/);
  });

  it('lock all their tables with their first statement, in the order in which the baseline creates them', async () => {
    const reference = 'ALTER TABLE pets ADD COLUMN other_category BIGINT REFERENCES categories (id);';
    assert.deepEqual(await lockedTables(`${LOCK_TABLES} ${reference}`), {
      first: ['categories', 'pets'],
      others: [],
    });
    // A reference locks the other table as well.
    const late = `LOCK TABLE pets IN ACCESS EXCLUSIVE MODE; ${reference}`;
    assert.deepEqual(await lockedTables(late), { first: ['pets'], others: ['categories'] });
    const [baseline, ...later] = readMigrations('postgres');
    const order = [...baseline!.sql.matchAll(/^CREATE TABLE (\w+)/gm)].map(([, name]) => name!);
    assert.ok(order.indexOf('categories') < order.indexOf('pets') && order.length > 10);
    for (const { name, sql } of later) {
      assert.deepEqual((await lockedTables(sql)).others, [], name);
      const named = /^LOCK TABLE ([\w, ]+) IN/m.exec(sql)?.[1]?.split(', ') ?? [];
      const places = named.map(table => order.indexOf(table)).filter(place => place >= 0);
      assert.deepEqual(
        places,
        places.toSorted((a, b) => a - b),
        name,
      );
    }
  });

  it('give way to requests while another transaction holds a table, and apply when it ends', async t => {
    const [holder, migrating, requests] = await threeSessions(t);
    await holder.query('BEGIN');
    await holder.query('SELECT count(*) FROM pets');
    const note = planted(`${LOCK_TABLES} ALTER TABLE pets ADD COLUMN note TEXT`);
    const migrations = [...readMigrations('postgres'), note];
    await assert.rejects(
      migratePostgres(migrating, migrations, 2),
      (error: Error) => error instanceof StoreUnavailable && /pg_stat_activity/.test(error.message),
    );
    const migrated = migratePostgres(migrating, migrations);
    // Neither waits until the other transaction ends.
    for (let i = 0; i < 50; i++) {
      await requests.query('SELECT count(*) FROM pets');
      await requests.query('UPDATE categories SET name = name');
    }
    await holder.query('COMMIT');
    assert.deepEqual(await migrated, [note.name]);
    await requests.query('SELECT note FROM pets');
  });

  it('run again after a deadlock with a transaction that is not part of the service', async t => {
    const [other, migrating, observer] = await threeSessions(t);
    const { rows } = await other.query('SELECT pg_backend_pid() AS pid');
    // Tables of other databases can have the same OID.
    const waiting = `FROM pg_locks WHERE pid = ${rows[0].pid} AND NOT granted`;
    // The sequence does not return to its first number with the transaction, so only the first attempt waits for the deadlock.
    await observer.query('CREATE SEQUENCE attempts');
    const deadlock = `
      SET LOCAL lock_timeout = 0; SET LOCAL deadlock_timeout = '10ms';
      LOCK TABLE pets IN ACCESS EXCLUSIVE MODE;
      DO $$ BEGIN
        IF nextval('attempts') = 1 THEN
          WHILE NOT EXISTS (SELECT ${waiting}) LOOP PERFORM pg_sleep(0.01); END LOOP;
        END IF;
      END $$;
      LOCK TABLE categories IN ACCESS EXCLUSIVE MODE;
      ALTER TABLE pets ADD COLUMN note TEXT`;
    const states: unknown[] = [];
    const query = async (sql: string, values?: unknown[]) => {
      try {
        return await migrating.query(sql, values);
      } catch (error) {
        states.push((error as { code: string }).code);
        throw error;
      }
    };
    // The server ends the transaction that notices a deadlock first.
    await other.query("SET deadlock_timeout = '1min'");
    await other.query('BEGIN');
    await other.query('SELECT count(*) FROM categories');
    const note = planted(deadlock);
    const migrated = migratePostgres({ query } as Client, [...readMigrations('postgres'), note]);
    const locked = `
      SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE datname = current_database()
      AND relation = 'pets'::regclass AND mode = 'AccessExclusiveLock' AND granted`;
    await until('the migration has locked pets', async () => (await observer.query(locked)).rows.length > 0);
    await other.query('SELECT count(*) FROM pets');
    await other.query('COMMIT');
    assert.deepEqual(await migrated, [note.name]);
    assert.deepEqual(states, ['40P01']);
    await observer.query('SELECT note FROM pets');
  });
});
