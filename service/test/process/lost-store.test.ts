import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { UnusableStore } from '../../src/db/database.ts';
import { openSqlite } from '../../src/db/sqlite.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { assertExplained, dataDirectory, type Ended, run, serve } from '../support/service-process.ts';
import { smallDisk } from '../support/small-disk.ts';
import { killedAt } from '../support/stopped-command.ts';
import { newDatabase } from '../support/test-store.ts';

const rejection =
  /^\S+petstore\.db is (missing|empty), but .* of an earlier store still exists?: the service does not start an empty shop instead/;

function assertRejected(ended: Ended): void {
  assertExplained(ended, rejection);
  assert.match(
    ended.stderr,
    /\n {2}You want a new store: {4}PETSTORE_DATA=\S+ node_modules\S+ service\S+ new-store /,
  );
}

const open = (directory: string) => openSqlite({ directory, writeBatch: 1, maxQueue: 1, clock: systemClock });

/** A directory as a service leaves it: with a store and the administrator's key. */
async function usedDirectory(t: TestContext): Promise<string> {
  const directory = dataDirectory(t);
  await open(directory).close();
  writeFileSync(join(directory, 'admin.key'), 'psk_lost\n');
  return directory;
}

const path = (directory: string) => join(directory, 'petstore.db');

describe('a directory with an admin.key whose store is lost', () => {
  const losses: Record<string, (directory: string) => void> = {
    missing: directory => rmSync(path(directory)),
    empty: directory => writeFileSync(path(directory), ''),
    'a database without tables': directory => {
      rmSync(path(directory));
      const db = new BetterSqlite3(path(directory));
      db.pragma('journal_mode = WAL');
      db.close();
    },
  };
  for (const [loss, lose] of Object.entries(losses)) {
    it(`is not served with an empty shop: the file is ${loss}`, async t => {
      const directory = await usedDirectory(t);
      lose(directory);
      const environment = { PORT: '0', PETSTORE_DATA: directory };
      const before = readFileSync(join(directory, 'admin.key'), 'utf8');
      // All open the store in the same way.
      const commands = loss === 'missing' ? ['serve', 'migrate', 'seed'] : ['serve'];
      for (const command of commands) assertRejected(await run(t, [command], environment));
      if (loss === 'missing') assert.equal((await run(t, ['keys', 'list'], environment)).code, 2);
      assert.equal(readFileSync(join(directory, 'admin.key'), 'utf8'), before);
      assert.equal(existsSync(path(directory)), loss !== 'missing');
      if (loss === 'empty') assert.equal(statSync(path(directory)).size, 0);
    });
  }

  it('is not served either when only the WAL remains, which is kept', async t => {
    const directory = await usedDirectory(t);
    rmSync(path(directory));
    renameSync(join(directory, 'admin.key'), `${path(directory)}-wal`);
    assertRejected(await run(t, ['serve'], { PORT: '0', PETSTORE_DATA: directory }));
    assert.ok(existsSync(`${path(directory)}-wal`));
  });

  it('gets an empty store and a new key when the operator requests it', async t => {
    const directory = await usedDirectory(t);
    const lost = readFileSync(join(directory, 'admin.key'), 'utf8').trim();
    rmSync(path(directory));
    for (const end of ['-journal', '-wal']) writeFileSync(`${path(directory)}${end}`, `the rest: ${end}`);
    // As a command that was killed.
    writeFileSync(`${path(directory)}.creating`, 'a part');
    const { code, stderr } = await run(t, ['new-store'], { PETSTORE_DATA: directory });
    assert.deepEqual([code, stderr], [0, '']);
    const kept = readdirSync(directory).filter(name => name.includes('.before-new-store-'));
    assert.deepEqual(
      kept.map(name => readFileSync(join(directory, name), 'utf8').trim()),
      [lost, 'the rest: -journal', 'the rest: -wal'],
    );

    const { api, adminKey, end } = await serve(t, directory);
    assert.notEqual(adminKey, lost);
    // The lost store has used the first numbers of events.
    const { body: events } = await api.get('/events');
    assert.deepEqual(
      events.map((event: { id: string; type: string }) => [event.id, event.type]),
      [
        ['1000000001', 'log.restored'],
        ['1000000002', 'service.store_created'],
        ['1000000003', 'key.created'],
      ],
    );
    assert.deepEqual(events[0].data, { lastSurvivingId: '0' });
    assert.equal((await api.get('/events?cursor=1')).body.code, 'log_restored');
    assert.equal((await api.get('/events?cursor=0')).status, 200);
    assert.equal((await api.get('/keys')).body.length, 1);
    await end('SIGTERM');
    assert.equal((await run(t, ['check'], { PETSTORE_DATA: directory })).code, 0);
  });

  const remains: Record<string, (directory: string) => void> = {
    'admin.key': () => {},
    'the WAL': directory => renameSync(join(directory, 'admin.key'), `${path(directory)}-wal`),
  };
  for (const [rest, lose] of Object.entries(remains)) {
    it(`is served with the new store or not at all after new-store is killed at any instant: ${rest} remains`, async t => {
      // The steps are the link of the key or the rename of the WAL, the flush of the directory, the rename, and another flush.
      const points = [1, 2, 3, 4].map(number => `before ${number}`);
      const created: string[] = [];
      for (const point of [...points, 'after 4']) {
        const directory = await usedDirectory(t);
        rmSync(path(directory));
        lose(directory);
        const killed = await run(t, ['new-store'], { PETSTORE_DATA: directory, ...killedAt(point) });
        assert.equal(killed.code, null, point);
        if (!existsSync(path(directory))) {
          assert.throws(() => open(directory), UnusableStore, point);
          continue;
        }
        created.push(point);
        const db = open(directory);
        const events = await db.all('SELECT id FROM events ORDER BY id');
        await db.close();
        assert.deepEqual(events[0], { id: 1_000_000_001 }, point);
      }
      assert.deepEqual(created, ['before 4', 'after 4']);
    });
  }

  it('gets a log that begins in the range after the number that the operator names', async t => {
    const directory = await usedDirectory(t);
    rmSync(path(directory));
    const { code, stdout } = await run(t, ['new-store', '--after', '1000000050'], {
      PETSTORE_DATA: directory,
    });
    assert.equal(code, 0);
    assert.match(stdout, /continues after event 0 with event 2000000001, log\.restored/);
  });
});

it('the command new-store replaces no store, and creates none when the shop is in PostgreSQL', async t => {
  const directory = await usedDirectory(t);
  assertExplained(
    await run(t, ['new-store'], { PETSTORE_DATA: directory }),
    /^There is a store in \S+: set PETSTORE_DATA to another directory/,
  );
  assert.ok(existsSync(join(directory, 'admin.key')));

  const elsewhere = {
    PETSTORE_DATA: join(directory, 'elsewhere'),
    DATABASE_URL: 'postgres://a@127.0.0.1/b',
  };
  assertExplained(
    await run(t, ['new-store'], elsewhere),
    /^The command new-store is for the embedded store, but DATABASE_URL is set/,
  );
  assert.ok(!existsSync(elsewhere.PETSTORE_DATA));
});

describe('a directory without write permission', () => {
  it('is named by the first start on PostgreSQL, and the next start creates the key', async t => {
    const database = await newDatabase();
    t.after(() => database.drop());
    const environment = { PORT: '0', DATABASE_URL: database.url };
    const { directory, remove } = smallDisk(64_000, 'ro');
    t.after(remove);
    assertExplained(
      await run(t, ['serve'], { ...environment, PETSTORE_DATA: directory }),
      /^The administrator's key cannot be written to \S+admin\.key: EROFS.*\nNo key was created in \S+: set PETSTORE_DATA to a directory that this user can write to, and start again\n$/,
      1,
    );

    const service = await serve(t, dataDirectory(t), environment);
    const { body } = await service.api.get('/keys');
    // Runs before the database is dropped.
    await service.end('SIGTERM');
    assert.equal(body.length, 1);
  });

  it('is named by a start on the embedded store', async t => {
    const { directory, remove } = smallDisk(64_000, 'ro');
    t.after(remove);
    assertExplained(
      await run(t, ['serve'], { PORT: '0', PETSTORE_DATA: directory }),
      /^The store in \S+ cannot be opened: EROFS.*\nMake it writable, or set PETSTORE_DATA to the directory/,
    );
  });
});
