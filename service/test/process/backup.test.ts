import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { checkStore } from '../../src/db/check-store.ts';
import { migrateSqlite } from '../../src/db/migrate-sqlite.ts';
import { copySnapshot } from '../../src/db/snapshot.ts';
import { aCategory } from '../support/factories.ts';
import { numbersTo } from '../support/numbers.ts';
import { sealEvents } from '../support/seal-events.ts';
import { assertExplained, dataDirectory, run, serve } from '../support/service-process.ts';
import { smallDisk } from '../support/small-disk.ts';
import { interruptedAt, killedAt, pausedAt } from '../support/stopped-command.ts';
import { assertNone } from '../support/values.ts';

/** A store of a few megabytes that no process has open. */
function closedStore(t: TestContext, change = ''): { PETSTORE_DATA: string } {
  const directory = dataDirectory(t);
  const db = new BetterSqlite3(join(directory, 'petstore.db'));
  db.pragma('journal_mode = WAL');
  migrateSqlite(db);
  db.exec(`INSERT INTO categories (name, name_key) VALUES ('Dogs', 'dogs');
    INSERT INTO events (type, subject, time, data, actor)
      ${numbersTo(20_000)} SELECT 'pet.changed', n, 0, hex(zeroblob(100)), 'system' FROM numbers;`);
  sealEvents(db);
  db.exec(change);
  db.close();
  return { PETSTORE_DATA: directory };
}

describe('a backup', () => {
  it('contains the whole shop at one instant, in one file for its owner, while clients write', async t => {
    const directory = dataDirectory(t);
    const { api } = await serve(t, directory);
    const acknowledged: number[] = [];
    let isOver = false;
    const writers = Array.from({ length: 4 }, async () => {
      while (!isOver) acknowledged.push(await aCategory(api));
    });
    const backups = dataDirectory(t);
    for (const name of ['first.db', 'second.db']) {
      const before = [...acknowledged];
      const { code, stdout, stderr } = await run(t, ['backup', join(backups, name)], {
        PETSTORE_DATA: directory,
      });
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, new RegExp(`${name} is a backup of \\S+, \\d+ bytes, in \\S+ s: categories `));
      const path = join(backups, name);
      assert.equal(statSync(path).mode & 0o777, 0o600);
      const { violations } = await checkStore(path);
      assert.deepEqual(violations, []);
      const db = new BetterSqlite3(path, { readonly: true });
      const copied = new Set(db.prepare('SELECT id FROM categories').pluck().all());
      const announced = db
        .prepare("SELECT count(*) FROM events WHERE type = 'category.created'")
        .pluck()
        .get();
      db.close();
      assertNone(before, id => !copied.has(id));
      assert.equal(announced, copied.size);
    }
    isOver = true;
    await Promise.all(writers);
    assert.deepEqual(readdirSync(backups).sort(), ['first.db', 'second.db']);
  });

  it('needs a store', async t => {
    const [directory, target] = [dataDirectory(t), dataDirectory(t)];
    const ended = await run(t, ['backup', join(target, 'backup.db')], { PETSTORE_DATA: directory });
    assertExplained(ended, /^There is no store in \S+: PETSTORE_DATA names/);
    assert.deepEqual([...readdirSync(directory), ...readdirSync(target)], []);
  });

  it('deletes nothing, and does not claim to, when its file cannot be created', async t => {
    const target = join(dataDirectory(t), 'b'.repeat(250));
    const ended = await run(t, ['backup', target], closedStore(t));
    assertExplained(ended, /^The backup \S+ cannot be written: ENAMETOOLONG[^\n.]*'\S+\.unfinished'\n$/, 1);
  });

  it('rejects a directory that does not exist', async t => {
    const target = join(dataDirectory(t), 'missing/backup.db');
    const ended = await run(t, ['backup', target], closedStore(t));
    assertExplained(
      ended,
      /^There is no directory \S+missing: create it, or write the backup to another one\n$/,
    );
  });

  it('overwrites no file, nor the file that another backup is writing', async t => {
    const environment = closedStore(t);
    const file = join(dataDirectory(t), 'backup.db');
    writeFileSync(file, 'precious');
    assertExplained(
      await run(t, ['backup', file], environment),
      /^\S+backup\.db already exists, and a backup does not replace files: name another file\n$/,
    );
    assert.equal(statSync(file).size, 8);

    const other = `${file}.2`;
    writeFileSync(`${other}.unfinished`, 'another');
    assertExplained(
      await run(t, ['backup', other], environment),
      /^\S+\.unfinished exists: another backup is writing it, or was killed; delete it/,
    );
    assert.equal(statSync(`${other}.unfinished`).size, 7);
  });

  it('replaces no file that appears while it is written', async t => {
    const directory = dataDirectory(t);
    const file = join(directory, 'backup.db');
    const { ended, resume } = await pausedAt(t, 'after 1', ['backup', file], closedStore(t));
    writeFileSync(file, 'precious');
    resume();
    const { code, stderr } = await ended;
    assert.match(stderr, /backup\.db already exists/);
    assert.deepEqual([code, readdirSync(directory), statSync(file).size], [2, ['backup.db'], 8]);
  });

  it('copies one state, and does not start again, when each part of the copy is followed by a commit', async t => {
    const { PETSTORE_DATA: directory } = closedStore(t);
    const writer = new BetterSqlite3(join(directory, 'petstore.db'));
    t.after(() => writer.close());
    let parts = 0;
    const throwIfAborted = () => {
      assert.ok(++parts < 20, 'the copy started again');
      writer.exec(`INSERT INTO categories (name, name_key) VALUES ('${parts}', '${parts}')`);
    };
    const target = join(dataDirectory(t), 'copy.db');
    await copySnapshot(join(directory, 'petstore.db'), target, { throwIfAborted } as AbortSignal);
    const copy = new BetterSqlite3(target, { readonly: true });
    assert.deepEqual(copy.prepare('SELECT name FROM categories').pluck().all(), ['Dogs']);
    copy.close();
    assert.ok(parts > 0);
  });

  it('leaves no file on a disk that is too small', async t => {
    const { directory, remove } = smallDisk(512_000);
    t.after(remove);
    const { code, stdout, stderr } = await run(t, ['backup', join(directory, 'backup.db')], closedStore(t));
    assert.match(stderr, /^The backup \S+ cannot be written: .*full.*\. The incomplete file was deleted\n$/);
    assert.deepEqual([code, stdout, readdirSync(directory)], [1, '', []]);
  });

  it('leaves no file when it is interrupted', async t => {
    const directory = dataDirectory(t);
    const environment = closedStore(t);
    for (const signal of ['SIGINT', 'SIGTERM']) {
      const { code, stdout, stderr } = await run(t, ['backup', join(directory, 'backup.db')], {
        ...environment,
        ...interruptedAt('after 1', signal),
      });
      assert.equal(stderr, `Interrupted by ${signal}: nothing was changed\n`);
      assert.deepEqual([code, stdout, readdirSync(directory)], [1, '', []]);
    }
  });

  it('of a damaged store is rejected, and the message states the damage', async t => {
    const directory = dataDirectory(t);
    const damaged = closedStore(t, 'DELETE FROM events WHERE id = 7');
    const { code, stdout, stderr } = await run(t, ['backup', join(directory, 'backup.db')], damaged);
    assert.match(
      stderr,
      /^\S+petstore\.db is damaged:\n {2}Rule: a gap in the event log after an event: ID 6\n/,
    );
    assert.deepEqual([code, stdout, readdirSync(directory)], [1, '', []]);
  });

  it('that is killed gets its final name only when it is complete', async t => {
    const environment = closedStore(t);
    // The steps are the flush of the copy, the rename, and the flush of the directory.
    for (const point of ['after 1', 'after 2', 'before 3']) {
      const file = join(dataDirectory(t), 'backup.db');
      const { code } = await run(t, ['backup', file], { ...environment, ...killedAt(point) });
      assert.equal(code, null);
      assert.equal(existsSync(file), point !== 'after 1');
      if (existsSync(file)) assert.deepEqual((await checkStore(file)).violations, []);
    }
  });
});
