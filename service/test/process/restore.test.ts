import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { changeOwner, unprivilegedUser } from '../../../scripts/servers/unprivileged.ts';
import { checkStore } from '../../src/db/check-store.ts';
import { migrateSqlite } from '../../src/db/migrate-sqlite.ts';
import { Receiver } from '../events/receiver.ts';
import { latestCursor } from '../support/event-log.ts';
import { EventReader } from '../support/event-reader.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { assertExplained, dataDirectory, run, serve, start } from '../support/service-process.ts';
import { smallDisk } from '../support/small-disk.ts';
import { interruptedAt, killedAt, pausedAt } from '../support/stopped-command.ts';
import { until } from '../support/until.ts';

/** A store that can be recognized by its only category. */
function storeOf(path: string, category: string, change = ''): void {
  const db = new BetterSqlite3(path);
  migrateSqlite(db);
  db.exec(`INSERT INTO categories (name, name_key) VALUES ('${category}', 'x'); ${change}`);
  db.close();
}

/** The categories of a store, which must be undamaged. */
async function categoriesOf(path: string): Promise<unknown[]> {
  assert.deepEqual((await checkStore(path)).violations, []);
  return columnOf(path, 'SELECT name FROM categories');
}

function eventsOf(path: string): unknown[] {
  return columnOf(path, 'SELECT id FROM events ORDER BY id');
}

function columnOf(path: string, sql: string): unknown[] {
  const db = new BetterSqlite3(path, { readonly: true });
  try {
    return db.prepare(sql).pluck().all();
  } finally {
    db.close();
  }
}

/** A directory with the store `old`, and a backup with the store `new`. */
function oldAndNew(t: TestContext, change = '') {
  const directory = dataDirectory(t);
  const path = join(directory, 'petstore.db');
  const file = join(dataDirectory(t), 'backup.db');
  storeOf(path, 'old');
  storeOf(file, 'new', change);
  const environment = { PETSTORE_DATA: directory };
  const kept = () =>
    readdirSync(directory)
      .filter(name => name.includes('.before-restore-'))
      .map(name => join(directory, name));
  return { directory, path, file, environment, kept };
}

const createKey = ['keys', 'create', '--name', 'Late', '--plan', 'free', '--scope', 'pets:read'];

function keysOf(path: string): unknown {
  return columnOf(path, 'SELECT count(*) FROM api_keys')[0];
}

/** A restore that is about to replace the old store. */
async function pausedRestore(t: TestContext) {
  const stores = oldAndNew(t);
  const restoring = await pausedAt(t, 'before linkSync', ['restore', stores.file], stores.environment);
  return { ...stores, restoring };
}

describe('restore', () => {
  it('restores the shop of a backup, and keeps later writes aside, even those of a killed service', async t => {
    const directory = dataDirectory(t);
    const environment = { PETSTORE_DATA: directory };
    const file = join(dataDirectory(t), 'backup.db');
    const service = await serve(t, directory);
    const { api } = service;
    const backedUp = await aCategory(api);
    const pet = await aPet(api, { name: 'Old Rex', categoryId: backedUp });
    assert.equal((await run(t, ['backup', file], environment)).code, 0);
    const later = await aCategory(api);
    await service.end('SIGKILL');
    assert.ok(existsSync(join(directory, 'petstore.db-wal')));
    // As a restore that was killed while it copied.
    for (const left of ['', '-journal'])
      writeFileSync(join(directory, `petstore.db.restoring${left}`), 'a part');

    const { code, stdout, stderr } = await run(t, ['restore', file], environment);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /now contains the shop of \S+backup\.db: categories 1, /);
    assert.match(stdout, /\nThe key in \S+admin\.key is valid in this store\n$/);
    const [, kept] = /The previous store is kept as (\S+)\n/.exec(stdout)!;
    const asides = readdirSync(directory).filter(name => name.includes('.before-restore-'));
    assert.deepEqual(asides, [basename(kept!)], 'its WAL was moved into it, and has no second name any more');
    assert.equal((await categoriesOf(kept!)).length, 2);

    const { api: after } = await serve(t, directory);
    assert.equal((await after.get(`/categories/${backedUp}`)).status, 200);
    assert.equal((await after.get(`/categories/${later}`)).status, 404);
    assert.equal((await after.get('/pets?q=rex')).body[0]?.id, pet);
    const [entry] = (await after.get('/history')).body;
    assert.deepEqual([entry.type, entry.subject, entry.actor], ['log.restored', 'events', 'system']);
  });

  it('fills a new directory, and reports that its key is missing or not in the backup', async t => {
    const { file } = oldAndNew(t);
    const directory = join(dataDirectory(t), 'data');
    const environment = { PETSTORE_DATA: directory };
    const first = await run(t, ['restore', file], environment);
    assert.match(
      first.stdout,
      /\nThere is no \S+admin\.key: use a key from the time of the backup, or create one with\n {2}PETSTORE_DATA=\S+ node_modules/,
    );
    writeFileSync(join(directory, 'admin.key'), 'psk_another\n');
    const again = await run(t, ['restore', file], environment);
    assert.match(
      again.stdout,
      /\nThe key in \S+admin\.key is not valid in this store: use a key from the time of the backup/,
    );
    assert.deepEqual([first.code, again.code], [0, 0]);
  });

  it('continues the log after the numbers of both stores, for clients of each kind', async t => {
    const directory = dataDirectory(t);
    const environment = { PETSTORE_DATA: directory, PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' };
    const file = join(dataDirectory(t), 'backup.db');
    const receiver = await Receiver.start();
    t.after(() => receiver.close());
    const restored = async (args: string[] = []) => {
      const { code, stdout, stderr } = await run(t, ['restore', file, ...args], environment);
      assert.deepEqual([code, stderr], [0, '']);
      const [, survivor, first] = /continues after event (\d+) with event (\d+), log\.restored:/.exec(
        stdout,
      )!;
      assert.deepEqual(await categoriesOf(join(directory, 'petstore.db')), ['Backed up']);
      return [Number(survivor), Number(first)] as const;
    };

    let service = await serve(t, directory, environment);
    let { api } = service;
    await api.post('/webhooks', { url: receiver.url, types: ['category.created'] });
    await aCategory(api, { name: 'Backed up' });
    await receiver.has(1);
    await run(t, ['backup', file], environment);
    const backedUp = Number(await latestCursor(api));
    await aCategory(api);
    const lost = Number(await latestCursor(api));
    const stream = await EventReader.open(service.url, service.adminKey);
    await aCategory(api);
    await stream.untilEvents(1);
    await receiver.has(3);
    await service.end('SIGTERM');
    await stream.untilOver();

    assert.deepEqual(await restored(), [backedUp, 1_000_000_001]);
    service = await serve(t, directory, environment);
    ({ api } = service);
    const polled = await api.get(`/events?cursor=${lost}`);
    assertRejected(polled, 410, 'log_restored');
    assertRejected(await api.get(`/events?cursor=${lost}&wait=60`), 410, 'log_restored');
    const reopened = await api.get('/events/stream', { 'last-event-id': stream.lastEventId });
    assertRejected(reopened, 410, 'log_restored');
    await aCategory(api);
    await receiver.has(5);
    assert.deepEqual(
      receiver.received.slice(3).map(({ event }) => [event.id, event.type]),
      [
        ['1000000001', 'log.restored'],
        ['1000000002', 'category.created'],
      ],
    );
    const [first] = (await api.get(`/events?cursor=${backedUp}`)).body;
    assert.deepEqual([first.id, first.data], ['1000000001', { lastSurvivingId: String(backedUp) }]);
    await service.end('SIGTERM');

    // The same backup once more: the numbers of the first new range were used.
    assert.deepEqual(await restored(), [backedUp, 2_000_000_001]);
    assert.deepEqual(await restored(['--after', '7000000000']), [backedUp, 8_000_000_001]);
    // A number that the previous store has passed changes nothing.
    assert.deepEqual(await restored(['--after', '1']), [backedUp, 9_000_000_001]);
    assertExplained(await run(t, ['restore', file, '--after', '-1'], environment), /--after/);
  });

  const user = unprivilegedUser();
  it('makes files that belong to the owner of their directory when root runs it, and so does a backup', {
    skip: user === undefined,
  }, async t => {
    const { directory, path, file, environment } = oldAndNew(t);
    const copy = join(dataDirectory(t), 'copy.db');
    for (const parent of [directory, dirname(copy)]) changeOwner(parent);
    for (const command of [
      ['restore', file],
      ['backup', copy],
    ])
      assert.equal((await run(t, command, environment)).code, 0);
    for (const made of [path, join(directory, 'petstore.lock'), copy]) {
      const { uid, gid } = statSync(made);
      assert.deepEqual({ uid, gid }, user, made);
    }
  });

  it('by a user who cannot read the backup, the store or admin.key says so, as other commands do', {
    skip: user === undefined,
  }, async t => {
    const { directory, path, file, environment } = oldAndNew(t);
    const becomesUser = `process.setgid(${user?.gid}); process.setuid(${user?.uid});`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(becomesUser)}`;
    const byUser = { ...environment, NODE_OPTIONS };
    for (const command of [['keys', 'list'], ['check'], ['backup', 'copy.db'], ['continue-log']]) {
      assertExplained(await run(t, command, byUser), /petstore\.db'\nSet PETSTORE_DATA to the directory of/);
    }
    const unreadable = /^\/.*backup\.db cannot be read: EACCES/;
    assertExplained(await run(t, ['check', file], byUser), unreadable);
    changeOwner(dirname(file));
    chmodSync(file, 0o600);
    assertExplained(await run(t, ['check', file], byUser), unreadable);

    rmSync(path);
    for (const readable of [directory, file]) changeOwner(readable);
    writeFileSync(join(directory, 'admin.key'), 'secret\n', { mode: 0o600 });
    const { code, stdout, stderr } = await run(t, ['restore', file], byUser);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /\nThe key in .*admin\.key cannot be read \(EACCES.*\): /);
    assert.deepEqual(await categoriesOf(path), ['new']);
  });

  it('asks for --after when there is no store whose numbers it can compare', async t => {
    const { path, file, environment } = oldAndNew(t);
    writeFileSync(path, 'noise '.repeat(500));
    const advice =
      /\nThe numbers of the previous store are not known: if clients have seen an event above 1000000000, restore /;
    assert.match((await run(t, ['restore', file], environment)).stdout, advice);
    assert.doesNotMatch((await run(t, ['restore', file], environment)).stdout, advice);
    // It still opens, but its last number cannot be read.
    const [page] = columnOf(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_sequence'");
    const damaged = readFileSync(path).fill('noise', (Number(page) - 1) * 4096, Number(page) * 4096);
    writeFileSync(path, damaged);
    assert.match((await run(t, ['restore', file], environment)).stdout, advice);
    const elsewhere = { PETSTORE_DATA: join(dataDirectory(t), 'data') };
    assert.match((await run(t, ['restore', file], elsewhere)).stdout, advice);
    const named = { PETSTORE_DATA: join(dataDirectory(t), 'data') };
    assert.doesNotMatch((await run(t, ['restore', file, '--after', '126'], named)).stdout, advice);
  });

  const rejections: [what: string, change: string, message: RegExp, code: number][] = [
    [
      'is damaged',
      `UPDATE sqlite_sequence SET seq = 9;
       INSERT INTO events (id, type, subject, time, data, actor) SELECT 7, name, name, 0, name, name FROM categories;
       DELETE FROM events;
       INSERT INTO events (id, type, subject, time, data, actor) SELECT 2, name, name, 0, name, name FROM categories`,
      /is damaged:\n {2}Rule: an event log whose last/,
      1,
    ],
    [
      'was written by a version that was never released',
      "UPDATE schema_migrations SET name = '0001-shop'",
      /written by a version that was never released: it has the migration 0001-shop, .* Use a new PETSTORE_DATA/,
      2,
    ],
    ['has no shop', 'DELETE FROM schema_migrations', /backup\.db contains no shop/, 2],
  ];
  for (const [what, change, message, code] of rejections) {
    it(`rejects a backup that ${what}, and changes nothing`, async t => {
      const { directory, path, file, environment } = oldAndNew(t, change);
      assertExplained(await run(t, ['restore', file], environment), message, code);
      assert.deepEqual(await categoriesOf(path), ['old']);
      assert.deepEqual(readdirSync(directory).sort(), ['petstore.db', 'petstore.lock']);
    });
  }

  it('rejects a file that is not a database, and a damaged one, and says which it is', async t => {
    const { path, file, environment } = oldAndNew(t);
    const bytes = readFileSync(file);
    for (const [content, message, code] of [
      [
        'no database '.repeat(500),
        /^\S+ is not a database, or its beginning is damaged: use a store or a /,
        2,
      ],
      [
        bytes.fill('noise', 100, 4096),
        /^\S+ cannot be restored to \S+: .* malformed\. It is damaged: use another backup\n$/,
        1,
      ],
    ] as const) {
      writeFileSync(file, content);
      assertExplained(await run(t, ['restore', file], environment), message, code);
      assert.deepEqual(await categoriesOf(path), ['old']);
    }
  });

  it('rejects the store itself, and a file that does not exist', async t => {
    const { path, environment } = oldAndNew(t);
    assertExplained(
      await run(t, ['restore', path], environment),
      /is the store itself: name a backup of it\n$/,
    );
    assertExplained(await run(t, ['restore', `${path}.1`], environment), /^There is no file \S+\n$/);
    assertExplained(
      await run(t, ['restore', '/dev/null'], environment),
      /^\/dev\/null is not a file: name a backup\n$/,
    );
  });

  it('keeps all files of a store that is too damaged to open', async t => {
    const { path, file, environment, kept } = oldAndNew(t);
    for (const end of ['', '-wal', '-shm']) writeFileSync(`${path}${end}`, `noise${end} `.repeat(500));
    const { code, stderr } = await run(t, ['restore', file], environment);
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(await categoriesOf(path), ['new']);
    assert.deepEqual(
      kept()
        .map(name => readFileSync(name, 'utf8').split(' ')[0])
        .sort(),
      ['noise', 'noise-shm', 'noise-wal'],
    );
  });

  it('does not apply the WAL of a deleted store to the new one', async t => {
    const { directory, path, file, environment, kept } = oldAndNew(t);
    // The WAL of a killed process: copied while its connection is open.
    const db = new BetterSqlite3(path);
    db.pragma('journal_mode = WAL');
    db.exec("UPDATE categories SET name = 'from the WAL'");
    const wal = readFileSync(`${path}-wal`);
    db.close();
    rmSync(path);
    writeFileSync(`${path}-wal`, wal);
    assert.equal((await run(t, ['restore', file], environment)).code, 0);
    assert.deepEqual(await categoriesOf(join(directory, 'petstore.db')), ['new']);
    assert.equal(kept().length, 1);
  });

  it('that is killed at any instant leaves the old store or the new one, and can be run again', async t => {
    // The steps are the flush of the copy, the link, the flush of the directory, the rename, and another flush.
    const steps = [1, 2, 3, 4, 5];
    // The end of a step is the beginning of the next one.
    const points = [...steps.map(number => `before ${number}`), 'after 5'];
    const found: unknown[] = [];
    for (const point of points) {
      const { path, file, environment, kept } = oldAndNew(t);
      const killed = await run(t, ['restore', file], { ...environment, ...killedAt(point) });
      assert.equal(killed.code, null, point);
      const [name] = await categoriesOf(path);
      found.push(name);
      if (name === 'new') assert.deepEqual(await categoriesOf(kept()[0]!), ['old']);
      assert.deepEqual(eventsOf(path), name === 'new' ? [1_000_000_001] : [], point);
      if (point !== 'before 2') continue;
      assert.equal((await run(t, ['restore', file], environment)).code, 0);
      assert.deepEqual(await categoriesOf(path), ['new']);
      assert.ok(!existsSync(`${path}.restoring`));
      assert.deepEqual(eventsOf(path), [1_000_000_001]);
    }
    assert.deepEqual(found, ['old', 'old', 'old', 'old', 'new', 'new']);
  });

  it('changes nothing when it is interrupted', async t => {
    const { directory, path, file, environment } = oldAndNew(t);
    for (const signal of ['SIGINT', 'SIGTERM']) {
      const interrupted = await run(t, ['restore', file], {
        ...environment,
        ...interruptedAt('after 1', signal),
      });
      assertExplained(interrupted, new RegExp(`^Interrupted by ${signal}: nothing was changed\n$`), 1);
      assert.deepEqual(await categoriesOf(path), ['old']);
      assert.deepEqual(readdirSync(directory).sort(), ['petstore.db', 'petstore.lock']);
    }
  });

  it('leaves no copy on a disk that is too small', async t => {
    const { directory, remove } = smallDisk(64_000);
    t.after(remove);
    const ended = await run(t, ['restore', oldAndNew(t).file], { PETSTORE_DATA: directory });
    assertExplained(ended, /^\S+backup\.db cannot be restored to \S+: .*full\n$/, 1);
    assert.deepEqual(readdirSync(directory), ['petstore.lock']);
  });

  it('is waited for by commands, which then use the restored store', async t => {
    const { directory, path, environment, kept, restoring } = await pausedRestore(t);
    const waiting = start(t, createKey, environment);
    const files = `/proc/${waiting.child.pid}/fd`;
    await until('the command waits for the lock', () =>
      readdirSync(files).some(number => linkOf(join(files, number)) === join(directory, 'petstore.lock')),
    );
    restoring.resume();
    const restored = await restoring.ended;
    assert.equal(restored.code, 0, restored.stderr);
    const { code, stderr } = await waiting.ended;
    assert.equal(code, 0, stderr);
    assert.deepEqual([await categoriesOf(kept()[0]!), await categoriesOf(path)], [['old'], ['new']]);
    assert.deepEqual([keysOf(kept()[0]!), keysOf(path)], [0, 1]);
  });

  it('makes commands end with a message when it takes long', async t => {
    const { environment, restoring } = await pausedRestore(t);
    const commands = [createKey, ['backup', join(dataDirectory(t), 'copy.db')], ['check']];
    const ended = await Promise.all(commands.map(command => run(t, command, environment)));
    const message = new RegExp(`is in use by process ${restoring.child.pid} .*\\(restore, since `);
    for (const command of ended) assertExplained(command, message, 1);
    restoring.resume();
    assert.equal((await restoring.ended).code, 0);
  });

  it('ends with a message while a command or another program uses the store', async t => {
    const { path, file, environment } = oldAndNew(t);
    const copy = join(dataDirectory(t), 'copy.db');
    const message = /is in use by a command, such as keys or backup: wait until it ends, and try again/;
    const backup = await pausedAt(t, 'before renameSync', ['backup', copy], environment);
    assertExplained(await run(t, ['restore', file], environment), message, 1);
    backup.resume();
    assert.equal((await backup.ended).code, 0);
    // Unlike a command, it does not use petstore.lock.
    const other = new BetterSqlite3(path);
    other.exec('BEGIN; SELECT * FROM categories');
    assertExplained(await run(t, ['restore', file], environment), message, 1);
    other.close();
    assert.deepEqual(await categoriesOf(path), ['old']);
  });
});

/** The target of a file descriptor; it may have been closed since it was listed. */
function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
