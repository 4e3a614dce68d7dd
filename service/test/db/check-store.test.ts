import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import BetterSqlite3 from 'better-sqlite3';
import { checkStore } from '../../src/db/check-store.ts';
import { UnusableStore } from '../../src/db/database.ts';
import { migrateSqlite } from '../../src/db/migrate-sqlite.ts';
import { readMigrations } from '../../src/db/migrations.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { storedWords } from '../../src/kit/words.ts';
import { NEXT_SCHEMA, nextVersion } from '../support/next-version.ts';
import { numbersTo } from '../support/numbers.ts';
import { sealEvents } from '../support/seal-events.ts';
import { dataDirectory, run } from '../support/service-process.ts';

/** The file of a store with these rows and a category. Its events are sealed in groups of 20. */
function storeOf(rows: string): Buffer {
  const db = new BetterSqlite3(':memory:');
  migrateSqlite(db);
  db.exec(`INSERT INTO categories (name, name_key) VALUES ('Dogs', 'dogs'); ${rows}`);
  sealEvents(db, 20);
  const content = db.serialize();
  db.close();
  return content;
}

const shop = storeOf(`
  INSERT INTO pets (name, name_key, category_id, status, quantity) VALUES
    ('Rex', 'rex', 1, 'available', 3), ('Bo', 'bo', 1, 'sold', 0), ('Ann', 'ann', 1, 'pending', 0);
  INSERT INTO orders (pet_id, quantity, complete) VALUES (3, 1, 0);
  INSERT INTO events (type, subject, time, data, actor)
    ${numbersTo(100)} SELECT 'pet.changed', n, 0, '{}', 'system' FROM numbers`);

/** Changes a copy of a store without regard to the constraints, and then seals the events that the change adds, as the service does. */
function storeWith(t: TestContext, change = '', content = shop): string {
  const path = join(dataDirectory(t), 'petstore.db');
  writeFileSync(path, content);
  const db = new BetterSqlite3(path);
  db.pragma('foreign_keys = OFF');
  db.pragma('ignore_check_constraints = ON');
  db.exec(change);
  sealEvents(db);
  db.close();
  return path;
}

describe('a check of a store', () => {
  it('finds nothing in an undamaged store, and counts its rows', async t => {
    const { violations, ...content } = await checkStore(storeWith(t));
    assert.deepEqual(violations, []);
    const newest = readMigrations('sqlite').length;
    const expected = { categories: 1, pets: 3, orders: 1, keys: 0, events: 100 };
    assert.deepEqual(content, { ...expected, schemaVersion: newest, newestVersion: newest });
  });

  it('finds nothing in a store that changes meanwhile, because it reads it at one instant', async t => {
    const path = storeWith(t);
    const db = new BetterSqlite3(path);
    t.after(() => db.close());
    db.pragma('journal_mode = WAL');
    const addPet = db.transaction(() => {
      const { lastInsertRowid: id } = db
        .prepare(
          "INSERT INTO pets (name, name_key, category_id, status, quantity) VALUES ('Zoe Two', 'zoe two', 1, 'sold', 0)",
        )
        .run();
      for (const word of storedWords('zoe two'))
        db.prepare('INSERT INTO pet_words VALUES (?, ?, ?)').run(word, 'zoe two', id);
      db.prepare('DELETE FROM pets_to_index WHERE pet_id = ?').run(id);
    });
    let isChecking = true;
    const checking = checkStore(path).finally(() => {
      isChecking = false;
    });
    // Not in each turn: a check of rows that it can see would not end.
    for (let turn = 0; isChecking; turn++) {
      if (turn % 2 === 0) addPet();
      await nextTurn();
    }
    assert.deepEqual((await checking).violations, []);
  });

  it('can be cancelled, also when the store is so damaged that its history is not read', async t => {
    for (const change of ['', 'UPDATE pets SET quantity = -1 WHERE id = 1']) {
      const signal = AbortSignal.abort(new Error('Ctrl-C'));
      await assert.rejects(checkStore(storeWith(t, change), { signal }), /^Error: Ctrl-C$/);
    }
  });

  it('treats the oldest events as expired, not as missing', async t => {
    const expired = (last: number) => `DELETE FROM events WHERE id <= ${last};
      UPDATE event_seals SET digests = NULL WHERE last_id <= ${last}`;
    assert.deepEqual((await checkStore(storeWith(t, expired(40)))).violations, []);
    assert.deepEqual((await checkStore(storeWith(t, expired(100)))).violations, []);
    const removed = storeWith(t, 'DELETE FROM events WHERE id <= 40');
    assert.deepEqual((await checkStore(removed)).violations, ['History: Event 1 was removed']);
    const { code, stderr } = await run(t, ['check', removed], {});
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^The history in \S+ was changed after it was written:\n {2}History: Event 1 was removed\n$/,
    );
  });

  it('names the first event that was removed in the middle or at the end, in addition to the gap', async t => {
    for (const [change, event] of [
      ['DELETE FROM events WHERE id IN (50, 70)', 50],
      ['DELETE FROM events WHERE id > 90', 91],
      [
        "INSERT INTO events (id, type, subject, time, data, actor) VALUES (0, 'x', 'y', 0, '{}', 'system')",
        0,
      ],
    ] as const) {
      const { violations } = await checkStore(storeWith(t, change));
      assert.match(violations.at(-1)!, new RegExp(`^History: Event ${event} was (removed|added)`), change);
    }
  });

  it('accepts the gap before a log.restored that names the last event before it, and no other gap', async t => {
    const first = 1_000_000_001;
    const insert = (id: number, type: string, survivor: number) =>
      `INSERT INTO events (id, type, subject, time, data, actor)
       VALUES (${id}, '${type}', 'events', 0, '{"lastSurvivingId":"${survivor}"}', 'system');`;
    const violationsOf = async (change: string) =>
      (await checkStore(storeWith(t, change))).violations.filter(line => line.startsWith('Rule: '));
    const intact = `${insert(first, 'log.restored', 100)} ${insert(first + 1, 'pet.changed', 0)}`;
    assert.deepEqual(await violationsOf(intact), []);
    assert.deepEqual(await violationsOf(`${intact} ${insert(2 * first - 1, 'log.restored', first + 1)}`), []);
    const gap = ['Rule: a gap in the event log after an event: ID 100'];
    assert.deepEqual(await violationsOf(insert(first, 'pet.changed', 100)), gap);
    assert.deepEqual(await violationsOf(insert(first, 'log.restored', 99)), gap);
    const later = `${insert(first, 'log.restored', 100)} ${insert(first + 2, 'pet.changed', 0)}`;
    assert.deepEqual(await violationsOf(later), [`Rule: a gap in the event log after an event: ID ${first}`]);
  });

  const damages: [change: string, ...messages: RegExp[]][] = [
    ['DELETE FROM events WHERE id = 50', /^Rule: a gap in the event log after an event: ID 49$/m],
    ['DELETE FROM events WHERE id > 90', /^Rule: an event log whose last number is not .*: ID 90$/m],
    [
      'UPDATE pets SET quantity = -1 WHERE id = 1',
      /^Rule: a negative quantity: ID 1$/m,
      /^Damage: CHECK constraint failed in pets$/m,
    ],
    ['UPDATE pets SET quantity = 0 WHERE id = 1', /^Rule: an available pet without stock: ID 1$/m],
    ['UPDATE pets SET quantity = 1 WHERE id = 2', /^Rule: a sold pet with stock: ID 2$/m],
    ['DELETE FROM orders', /^Rule: a pet on hold without stock that no open order holds: ID 3$/m],
    [
      "UPDATE pets SET status = 'sold' WHERE id = 3",
      /^Rule: an open order for a pet that is sold or deleted: ID 1$/m,
    ],
    [
      'DELETE FROM pets WHERE id = 3',
      /^Rule: an open order for a pet that is sold or deleted: ID 1$/m,
      /^Reference: a row of orders \(1\) refers to a row of pets that is missing$/m,
    ],
    ['DELETE FROM categories', /^Rule: a pet without its category: ID 1$/m],
    ['UPDATE orders SET complete = 1', /^Rule: a completed order without a pet or a ship date: ID 1$/m],
    [
      "INSERT INTO categories (name, name_key) VALUES ('DOGS', 'x')",
      /^Rule: two categories with the same name: ID 2$/m,
    ],
    [
      `INSERT INTO api_keys (name, name_key, hash, kind, plan, scopes, created_at) VALUES
        ('Ann', 'ann', zeroblob(32), 'secret', 'free', 'pets:read', 0),
        ('Bo', 'bo', randomblob(32), 'publishable', 'free', 'pets:read', 0);
      INSERT INTO api_key_origins (api_key_id, origin) VALUES (1, 'https://shop.example')`,
      /^Rule: a publishable key without origins, or another key with origins: ID 1$/m,
      /^Rule: a publishable key without origins, or another key with origins: ID 2$/m,
    ],
  ];
  for (const [change, ...messages] of damages) {
    it(`finds the damage of ${change}`, async t => {
      const { violations } = await checkStore(storeWith(t, change));
      for (const message of messages) assert.match(violations.join('\n'), message);
    });
  }

  it('lists at most ten of each kind', async t => {
    const { violations } = await checkStore(storeWith(t, 'DELETE FROM events WHERE id % 2 = 0'));
    const gaps = violations.filter(line => line.startsWith('Rule: a gap'));
    assert.deepEqual([gaps.length, violations.includes('Rule: … and more')], [10, true]);
  });

  it('finds a page that was overwritten with noise', async t => {
    const path = storeWith(t);
    const db = new BetterSqlite3(path, { readonly: true });
    const page = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'pets_by_status'").pluck().get();
    db.close();
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.alloc(4096, 'noise'), 0, 4096, ((page as number) - 1) * 4096);
    closeSync(file);
    assert.match((await checkStore(path)).violations.join('\n'), /^Damage: /);
    const { code, stdout, stderr } = await run(t, ['check', path], {});
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^\S+petstore\.db is damaged:\n {2}Damage: .*\nRestore a backup that passes check/s);
  });

  it('finds that the end of a file is missing', async t => {
    const path = storeWith(t);
    truncateSync(path, 100_000);
    const { code, stdout, stderr } = await run(t, ['check', path], {});
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^\S+petstore\.db is damaged:\n {2}Damage: .*\nRestore a backup that passes check/s);
    const started = await run(t, ['serve'], { PORT: '0', PETSTORE_DATA: dirname(path) });
    assert.equal(started.code, 2);
    assert.match(started.stderr, /malformed\nIt is damaged: `restore` a backup that passes `check`/);
  });

  it('reports damage in the tables of the schema and of its version only as damage', async t => {
    for (const table of ['sqlite_schema', 'schema_migrations']) {
      const path = storeWith(t);
      const db = new BetterSqlite3(path, { readonly: true });
      const page = db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck().get(table) ?? 1;
      db.close();
      const file = openSync(path, 'r+');
      // The header of the file takes the first 100 bytes of the first page.
      const noise = Buffer.alloc(page === 1 ? 3996 : 4096, 0xfe);
      writeSync(file, noise, 0, noise.length, (page as number) * 4096 - noise.length);
      closeSync(file);
      const found = await checkStore(path).then(
        ({ violations }) => violations.join('\n'),
        error => {
          assert.ok(error instanceof UnusableStore, String(error));
          return error.message;
        },
      );
      assert.match(found, /^Damage: |cannot be read as a store: /, table);
      assert.doesNotMatch(found, /newer than this program/, table);
    }
  });

  it('changes nothing, not even the schema of the version before', async t => {
    const path = storeWith(t);
    const before = readFileSync(path);
    const main = join(nextVersion(t), 'service/src/main.ts');
    const environment = { DATABASE_URL: 'postgres://a@127.0.0.1/b' };
    const { code, stdout, stderr } = await run(t, ['check', path], environment, main);
    assert.equal(code, 0, stderr);
    const schema = `schema version ${NEXT_SCHEMA - 1}, which the next start migrates to ${NEXT_SCHEMA}`;
    assert.match(stdout, new RegExp(`is intact: categories 1, pets 3, .*; ${schema}\n`));
    assert.deepEqual(readFileSync(path), before);
  });

  it('reports only the damage of a store whose schema it does not know', async t => {
    const other = "UPDATE schema_migrations SET name = '0001-shop'; DROP TABLE pets_to_index;";
    const path = storeWith(t, `${other} UPDATE pets SET quantity = -1 WHERE id = 1`);
    assert.deepEqual((await checkStore(path)).violations, ['Damage: CHECK constraint failed in pets']);
  });

  it('rejects a database that contains no shop, or a newer one', async t => {
    const newer = storeWith(t, "INSERT INTO schema_migrations VALUES (9999, 'x', 0)");
    const rejected = (path: string, message: RegExp) =>
      assert.rejects(
        checkStore(path),
        error => error instanceof UnusableStore && message.test(error.message),
      );
    await rejected(newer, /schema version 9999, newer than this program knows/);
    await rejected(
      storeWith(t, 'DROP TABLE schema_migrations'),
      /contains no shop: the table schema_migrations/,
    );
    await rejected(
      import.meta.filename,
      /\.ts is not a database, or its beginning is damaged: use a store or a backup that passes `check`$/,
    );
    await rejected(`${newer}.1`, /petstore\.db\.1 cannot be read as a store: unable to open database file$/);
    assert.ok(statSync(newer).size > 0);
  });
});

const searched = storeOf(`
  INSERT INTO pets (name, name_key, category_id, status, quantity) VALUES
    ('Rex of Kent', 'rex of kent', 1, 'available', 1),
    ('New name', 'new name', 1, 'available', 1),
    ('Not indexed', 'not indexed', 1, 'available', 1);
  INSERT INTO pets_to_index VALUES (2, 'old name'), (3, NULL), (4, 'deleted name');
  INSERT INTO pet_words VALUES ('of', 'rex of kent', 1), ('kent', 'rex of kent', 1),
    ('name', 'old name', 2), ('name', 'deleted name', 4)`);

const cases: [change: string, violations: string[]][] = [
  ['', []],
  ["DELETE FROM pet_words WHERE word = 'kent'", ['Rule: a pet that search does not find: ID 1']],
  [
    "INSERT INTO pet_words VALUES ('max', 'rex of kent', 1)",
    ['Rule: words of search that belong to no pet: 1'],
  ],
  ['DELETE FROM pets WHERE id = 1', ['Rule: words of search that belong to no pet: 2']],
  ['DELETE FROM pets_to_index WHERE pet_id > 3', ['Rule: words of search that belong to no pet: 1']],
  ['DELETE FROM pets_to_index WHERE pet_id = 2', ['Rule: a pet that search does not find: ID 2']],
  ["DELETE FROM pet_words WHERE name_key = 'old name'", ['Rule: a pet that search does not find: ID 2']],
];

describe('a check of the words of search', () => {
  for (const [change, expected] of cases) {
    it(`compares them with the names: ${change || 'intact'}`, async t => {
      assert.deepEqual((await checkStore(storeWith(t, change, searched))).violations, expected);
    });
  }

  it('compares those of the last of many pets, one of which is still to be indexed', async t => {
    const many = storeOf(`
      INSERT INTO pets (name, name_key, category_id, status, quantity)
        ${numbersTo(10_001)} SELECT 'Rex of', 'rex of', 1, 'available', 1 FROM numbers;
      INSERT INTO pet_words SELECT 'of', 'rex of', id FROM pets;
      INSERT INTO pets_to_index VALUES (5, 'rex of')`);
    const check = async (change: string) => {
      const signal = AbortSignal.timeout(60 * SECOND);
      return (await checkStore(storeWith(t, change, many), { signal })).violations;
    };
    assert.deepEqual(await check(''), []);
    assert.deepEqual(await check("UPDATE pet_words SET word = 'kent' WHERE pet_id = 10001"), [
      'Rule: a pet that search does not find: ID 10001',
    ]);
  });
});
