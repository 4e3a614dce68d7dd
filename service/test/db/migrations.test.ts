import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { Client } from 'pg';
import { UnusableStore } from '../../src/db/database.ts';
import { migratePostgres } from '../../src/db/migrate-postgres.ts';
import { migrateSqlite } from '../../src/db/migrate-sqlite.ts';
import { type Migration, readMigrations } from '../../src/db/migrations.ts';
import { openSqlite } from '../../src/db/sqlite.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { assertExplained, dataDirectory, run } from '../support/service-process.ts';
import { startTestApp } from '../support/test-app.ts';
import { emptyDatabase, newDatabase } from '../support/test-store.ts';
import { valuesOf } from '../support/values.ts';

/** A store of one engine without tables. */
interface Store {
  migrate(migrations: readonly Migration[]): Promise<string[]>;
  /** The whole schema, and the applied migrations. */
  dump(): Promise<unknown>;
}

function dumpOf(db: BetterSqlite3.Database): { schema: unknown[]; applied: Migration[] } {
  const schema = db.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name').all();
  const applied = schema.length === 0 ? [] : db.prepare('SELECT * FROM schema_migrations').all();
  return { schema, applied: applied as Migration[] };
}

const stores: Record<string, (t: TestContext) => Promise<Store>> = {
  SQLite: async () => {
    const db = new BetterSqlite3(':memory:');
    return {
      migrate: async migrations => migrateSqlite(db, [...migrations]),
      dump: async () => dumpOf(db),
    };
  },
  PostgreSQL: async t => {
    const { url, drop } = await emptyDatabase();
    const client = new Client(url);
    await client.connect();
    t.after(async () => {
      await client.end();
      await drop();
    });
    return {
      migrate: migrations => migratePostgres(client, [...migrations]),
      dump: async () => {
        const { rows: schema } = await client.query(
          "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY table_name",
        );
        if (schema.length === 0) return { schema, applied: [] };
        return { schema, applied: (await client.query('SELECT * FROM schema_migrations')).rows };
      },
    };
  },
};

function migration(version: number, name: string, sql = `CREATE TABLE ${name} (id INTEGER)`): Migration {
  return { version, name: `000${version}-${name}`, sql };
}

const [pens, cages, baskets, hutches] = [
  migration(1, 'pens'),
  migration(2, 'cages'),
  migration(2, 'baskets'),
  migration(1, 'hutches'),
];
const broken = migration(2, 'broken', 'CREATE TABLE cages (id INTEGER); INSERT INTO nowhere VALUES (1)');

for (const [engine, open] of Object.entries(stores)) {
  describe(`migrations of ${engine}`, () => {
    it('apply only new ones, and change nothing the second time', async t => {
      const store = await open(t);
      assert.deepEqual(await store.migrate([pens]), ['0001-pens']);
      assert.deepEqual(await store.migrate([pens, cages]), ['0002-cages']);
      const before = await store.dump();
      assert.match(JSON.stringify(before), /cages.*0001-pens.*0002-cages/);
      assert.deepEqual(await store.migrate([pens, cages]), []);
      assert.deepEqual(await store.dump(), before);
    });

    it('have transactions of their own: one that fails changes nothing, and those before it stay', async t => {
      const store = await open(t);
      await assert.rejects(store.migrate([broken]), /nowhere/);
      assert.deepEqual(await store.dump(), { schema: [], applied: [] });
      await assert.rejects(store.migrate([pens, broken]), /nowhere/);
      const before = await store.dump();
      assert.match(JSON.stringify(before), /pens/);
      assert.doesNotMatch(JSON.stringify(before), /cages|broken/);
      await assert.rejects(store.migrate([pens, broken]), /nowhere/);
      assert.deepEqual(await store.dump(), before);
      assert.deepEqual(await store.migrate([pens, cages]), ['0002-cages']);
    });

    for (const [stored, own, message] of [
      [[hutches], [pens], /0001-hutches/],
      [[hutches], [pens, cages], /0001-hutches/],
      [[hutches, cages], [pens], /0001-hutches/],
      [[pens, baskets], [pens, cages], /0002-baskets/],
      [[pens, cages], [pens], /schema version 2, newer than this program .* at least as new/],
    ] as const) {
      const names = (migrations: readonly Migration[]) => migrations.map(({ name }) => name).join(' and ');
      it(`change nothing in a store with ${names(stored)} instead of ${names(own)}`, async t => {
        const store = await open(t);
        await store.migrate(stored);
        const before = await store.dump();
        const isRejection = (error: unknown) => error instanceof UnusableStore && message.test(error.message);
        await assert.rejects(store.migrate(own), isRejection);
        assert.deepEqual(await store.dump(), before);
      });
    }
  });
}

const aStore = (directory: string) =>
  openSqlite({ directory, writeBatch: 1, maxQueue: 1_000, clock: systemClock }).close();

function dumpIn(directory: string, change = ''): ReturnType<typeof dumpOf> {
  const db = new BetterSqlite3(join(directory, 'petstore.db'));
  try {
    db.exec(change);
    return dumpOf(db);
  } finally {
    db.close();
  }
}

describe('an embedded store', () => {
  it('has the current schema after the first start, and the next one changes nothing', async t => {
    const directory = join(dataDirectory(t), 'made/at/start');
    await aStore(directory);
    const first = dumpIn(directory);
    await aStore(directory);
    assert.deepEqual(dumpIn(directory), first);
    const versions = readMigrations('sqlite').map(({ version, name }) => [version, name]);
    assert.deepEqual(valuesOf(first.applied, 'version', 'name'), versions);
    assert.deepEqual(
      versions.map(([version]) => version),
      versions.map((_, i) => i + 1),
    );
  });

  it('has the names of its migrations in the log of the first start only', async t => {
    const shop = await startTestApp(t, { shared: false });
    const { logLines } = await shop.restart();
    const logged = logLines().filter(({ msg }) => msg === 'Schema migrated');
    assert.deepEqual(valuesOf(logged, 'level', 'migrations'), [
      [30, valuesOf(readMigrations('sqlite'), 'name')],
    ]);
  });

  it('gets the current schema once from concurrent processes', async t => {
    const directory = dataDirectory(t);
    const ends = await Promise.all(
      Array.from({ length: 3 }, () => run(t, ['migrate'], { PETSTORE_DATA: directory })),
    );
    for (const { code, stderr } of ends) assert.deepEqual([code, stderr], [0, '']);
    const lines = ends.flatMap(({ stdout }) => stdout.split('\n')).filter(line => line.startsWith('Applied'));
    const names = readMigrations('sqlite').map(({ name }) => name);
    assert.deepEqual(
      lines.toSorted(),
      names.map(name => `Applied ${name}`),
    );
    assert.equal(
      ends.every(({ stdout }) => stdout.endsWith('The schema is up to date\n')),
      true,
    );
    assert.equal(dumpIn(directory).applied.length, names.length);
  });
});

const NEWER = "INSERT INTO schema_migrations VALUES (9999, '9999-from-the-future', 0)";
const OTHER = "UPDATE schema_migrations SET name = '0001-shop'";
const messages: Record<string, RegExp> = {
  [NEWER]: /^The database has schema version 9999, newer than this program .* at least as new/m,
  [OTHER]:
    /^The store was written by a version that was never released: it has the migration 0001-shop, and this program can neither read nor migrate it\. Use a new PETSTORE_DATA directory or a new database\. To keep the pets, first export them /m,
};

describe('a store of a newer version, or of one that was never released,', () => {
  // Each of these commands opens the store in a way of its own; the others do as `serve`.
  for (const [command, ...changes] of [
    ['serve', NEWER, OTHER],
    ['backup', OTHER],
    ['check', OTHER],
    ['migrate-store', OTHER],
  ] as const) {
    it(`is rejected by ${command}, and remains as it is`, async t => {
      for (const change of changes) {
        const directory = dataDirectory(t);
        await aStore(directory);
        const before = dumpIn(directory, change);
        const environment: Record<string, string> = { PETSTORE_DATA: directory, PORT: '0' };
        if (command === 'migrate-store') {
          const { url, drop } = await newDatabase();
          t.after(drop);
          environment.DATABASE_URL = url;
        }
        const target = dataDirectory(t);
        const args = command === 'backup' ? [join(target, 'backup.db')] : [];
        assertExplained(await run(t, [command, ...args], environment), messages[change]!);
        assert.deepEqual(readdirSync(target), []);
        assert.deepEqual(dumpIn(directory), before);
        assert.ok(!existsSync(join(directory, 'admin.key')));
      }
    });
  }

  it('is rejected by serve, migrate-store and check on PostgreSQL', async t => {
    const { url, drop } = await newDatabase();
    t.after(drop);
    const client = new Client(url);
    await client.connect();
    await client.query(OTHER);
    await client.end();
    const directory = dataDirectory(t);
    await aStore(directory);
    const environment = { PETSTORE_DATA: directory, PORT: '0', DATABASE_URL: url };
    for (const command of ['serve', 'migrate-store', 'check'])
      assertExplained(await run(t, [command], environment), messages[OTHER]!);
  });
});
