import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { UnusableStore } from '../../src/db/database.ts';
import { migrateSqlite } from '../../src/db/migrate-sqlite.ts';
import { readMigrations } from '../../src/db/migrations.ts';
import { openSqlite } from '../../src/db/sqlite.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { dataDirectory, run } from '../support/service-process.ts';

/** The whole schema, and the applied migrations. */
function dump(db: BetterSqlite3.Database): unknown {
  return {
    schema: db.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name').all(),
    applied: db.prepare('SELECT * FROM schema_migrations').all(),
  };
}

function dumpOf(directory: string): unknown {
  const db = new BetterSqlite3(join(directory, 'petstore.db'), { readonly: true });
  try {
    return dump(db);
  } finally {
    db.close();
  }
}

const pen = { version: 1, name: '0001-pen', sql: 'CREATE TABLE pens (id INTEGER)' };
const cage = { version: 2, name: '0002-cage', sql: 'CREATE TABLE cages (id INTEGER)' };
const broken = {
  version: 2,
  name: '0002-broken',
  sql: 'CREATE TABLE cages (id INTEGER); INSERT INTO nowhere VALUES (1)',
};

describe('migrations', () => {
  it('create the current schema in an empty directory, and the next start changes nothing', async t => {
    const directory = join(dataDirectory(t), 'made/at/start');
    const store = { directory, writeBatch: 1, maxQueue: 1_000, clock: systemClock };
    await openSqlite(store).close();
    const first = dumpOf(directory);
    await openSqlite(store).close();

    assert.deepEqual(dumpOf(directory), first);
    const { applied } = first as { applied: { version: number; name: string }[] };
    assert.deepEqual(
      applied.map(({ version, name }) => [version, name]),
      readMigrations('sqlite').map(({ version, name }) => [version, name]),
    );
  });

  it('are numbered from 1 without a gap', () => {
    const versions = readMigrations('sqlite').map(({ version }) => version);
    assert.ok(versions.length > 0);
    assert.deepEqual(
      versions,
      versions.map((_, i) => i + 1),
    );
  });

  it('apply only new ones', () => {
    const db = new BetterSqlite3(':memory:');
    migrateSqlite(db, [pen]);
    db.exec('INSERT INTO pens VALUES (7)');
    migrateSqlite(db, [pen, cage]);
    assert.deepEqual(db.prepare('SELECT id FROM pens').all(), [{ id: 7 }]);
    assert.deepEqual(db.prepare('SELECT name FROM schema_migrations').pluck().all(), [
      '0001-pen',
      '0002-cage',
    ]);
  });

  it('change nothing in a store that has other ones, also when it has more or fewer', () => {
    const basket = { version: 2, name: '0002-basket', sql: 'CREATE TABLE baskets (id INTEGER)' };
    const hutch = { version: 1, name: '0001-hutch', sql: 'CREATE TABLE hutches (id INTEGER)' };
    for (const [stored, own, other] of [
      [[hutch], [pen], /0001-hutch/],
      [[hutch], [pen, cage], /0001-hutch/],
      [[hutch, cage], [pen], /0001-hutch/],
      [[pen, basket], [pen, cage], /0002-basket/],
    ] as const) {
      const db = new BetterSqlite3(':memory:');
      migrateSqlite(db, [...stored]);
      const before = dump(db);
      const isRejection = (error: unknown) => error instanceof UnusableStore && other.test(error.message);
      assert.throws(() => migrateSqlite(db, [...own]), isRejection);
      assert.deepEqual(dump(db), before);
    }
  });

  it('change nothing when one fails, not even by those before it', () => {
    const db = new BetterSqlite3(':memory:');
    assert.throws(() => migrateSqlite(db, [pen, broken]), /nowhere/);
    assert.deepEqual(db.prepare('SELECT name FROM sqlite_schema').all(), []);

    migrateSqlite(db, [pen]);
    const before = dump(db);
    assert.throws(() => migrateSqlite(db, [pen, broken]), /nowhere/);
    assert.deepEqual(dump(db), before);
  });

  it('do not change a newer schema, and report the remedy', async t => {
    const directory = dataDirectory(t);
    await openSqlite({ directory, writeBatch: 1, maxQueue: 1_000, clock: systemClock }).close();
    const db = new BetterSqlite3(join(directory, 'petstore.db'));
    db.prepare("INSERT INTO schema_migrations VALUES (9999, '9999-from-the-future', 0)").run();
    db.close();
    const before = dumpOf(directory);

    assert.throws(
      () => openSqlite({ directory, writeBatch: 1, maxQueue: 1_000, clock: systemClock }),
      error => error instanceof UnusableStore && /version 9999, newer than this program/.test(error.message),
    );
    const { code, stderr } = await run(t, ['serve'], { PORT: '0', PETSTORE_DATA: directory });
    assert.equal(code, 2);
    assert.match(stderr, /^The database has schema version 9999, newer .* at least as new/);
    assert.doesNotMatch(stderr, /\n {4}at /);
    assert.deepEqual(dumpOf(directory), before);
    assert.ok(!existsSync(join(directory, 'admin.key')));
  });
});

describe('concurrent processes on an empty directory', () => {
  it('all report that the schema is up to date', async t => {
    const directory = dataDirectory(t);
    const ends = await Promise.all(
      Array.from({ length: 6 }, () => run(t, ['migrate'], { PETSTORE_DATA: directory })),
    );
    for (const { code, stdout, stderr } of ends) {
      assert.deepEqual([code, stdout, stderr], [0, 'The schema is up to date\n', '']);
    }
    const { applied } = dumpOf(directory) as { applied: unknown[] };
    assert.equal(applied.length, readMigrations('sqlite').length);
  });
});
