import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { withConnection } from '../../src/db/postgres-command.ts';
import { openSqlite } from '../../src/db/sqlite.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { dataDirectory, type Ended, run } from '../support/service-process.ts';
import { newDatabase } from '../support/test-store.ts';

/** A store has had more migrations than this program, and other ones. */
const OTHERS = ["UPDATE schema_migrations SET name = '0001-shop'"].concat(
  [2, 3].map(version => `INSERT INTO schema_migrations VALUES (${version}, '000${version}-more', 0)`),
);

const MESSAGE =
  /^The store was written by a version that was never released: it has the migration 0001-shop, and this program can neither read nor migrate it\. Use a new PETSTORE_DATA directory or a new database\. To keep the pets, first export them /;

async function embeddedStore(t: TestContext): Promise<{ directory: string; path: string }> {
  const directory = dataDirectory(t);
  await openSqlite({ directory, writeBatch: 1, maxQueue: 1_000, clock: systemClock }).close();
  const path = join(directory, 'petstore.db');
  const db = new BetterSqlite3(path);
  for (const sql of OTHERS) db.exec(sql);
  db.close();
  return { directory, path };
}

async function postgresDatabase(t: TestContext): Promise<string> {
  const database = await newDatabase();
  t.after(() => database.drop());
  await withConnection(database.url, 'test', async session => {
    for (const sql of OTHERS) await session.query(sql);
  });
  return database.url;
}

function assertRejected({ code, stdout, stderr }: Ended): void {
  assert.match(stderr.split('\n').findLast(line => line.startsWith('The store')) ?? stderr, MESSAGE);
  assert.doesNotMatch(stderr, /\n {4}at /);
  assert.deepEqual([code, stdout], [2, '']);
}

const commands: string[][] = [
  ['serve'],
  ['migrate'],
  ['seed'],
  ['keys', 'list'],
  ['continue-log'],
  ['sign-in-link'],
];

describe('a store of a version that was never released', () => {
  for (const args of [...commands, ['backup', 'FILE'], ['check'], ['migrate-store']]) {
    it(`is rejected by ${args.join(' ')}, and remains as it is`, async t => {
      const { directory, path } = await embeddedStore(t);
      const before = readFileSync(path);
      const target = join(dataDirectory(t), 'backup.db');
      const environment: Record<string, string> = { PETSTORE_DATA: directory, PORT: '0' };
      if (args[0] === 'migrate-store') {
        const database = await newDatabase();
        t.after(() => database.drop());
        environment.DATABASE_URL = database.url;
      }
      assertRejected(
        await run(
          t,
          args.map(arg => (arg === 'FILE' ? target : arg)),
          environment,
        ),
      );
      assert.deepEqual(readFileSync(path), before);
      assert.ok(!existsSync(join(directory, 'admin.key')));
      assert.deepEqual(readdirSync(join(target, '..')), []);
    });
  }

  it('is rejected as a backup by check and restore', async t => {
    const { path } = await embeddedStore(t);
    const environment = { PETSTORE_DATA: dataDirectory(t) };
    for (const command of ['check', 'restore']) assertRejected(await run(t, [command, path], environment));
    assert.ok(!existsSync(join(environment.PETSTORE_DATA, 'petstore.db')));
  });

  for (const args of [...commands, ['migrate-store']]) {
    it(`on PostgreSQL is rejected by ${args.join(' ')}, and remains as it is`, async t => {
      const databaseUrl = await postgresDatabase(t);
      const directory = dataDirectory(t);
      const content = () =>
        withConnection(databaseUrl, 'test', async session => ({
          migrations: (await session.query('SELECT * FROM schema_migrations ORDER BY version')).rows,
          keys: (await session.query('SELECT * FROM api_keys')).rows,
          log: (await session.query('SELECT * FROM event_log')).rows,
        }));
      const before = await content();
      const environment = { PETSTORE_DATA: directory, PORT: '0', DATABASE_URL: databaseUrl };
      if (args[0] === 'migrate-store')
        await openSqlite({ directory, writeBatch: 1, maxQueue: 1_000, clock: systemClock }).close();
      assertRejected(await run(t, args, environment));
      assert.deepEqual(await content(), before);
      assert.ok(!existsSync(join(directory, 'admin.key')));
    });
  }
});
