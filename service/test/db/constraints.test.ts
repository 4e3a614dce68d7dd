import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import pg from 'pg';
import { migrateSqlite } from '../../src/db/migrate-sqlite.ts';
import { newDatabase } from '../support/test-store.ts';

/** Pet 1 is available and has open order 1; completed order 2 sold pet 2. Bytes are written in SQLite's syntax. */
const shop = `
  INSERT INTO categories (name, name_key) VALUES ('Dogs', 'dogs');
  INSERT INTO pets (name, name_key, category_id, status, quantity)
    VALUES ('Biscuit', 'biscuit', 1, 'available', 3), ('Mia', 'mia', 1, 'sold', 0);
  INSERT INTO orders (pet_id, quantity, ship_date, complete) VALUES (1, 2, NULL, 0), (2, 1, 0, 1);
  INSERT INTO api_keys (name, name_key, hash, kind, plan, scopes, per_minute, per_day, created_at)
    VALUES ('Shop', 'shop', zeroblob(32), 'secret', 'enterprise', 'admin', 1, 1, 0);
`;

/** Changes that a bug in the code could attempt. */
const violations: [what: string, sql: string][] = [
  ['a negative quantity', 'UPDATE pets SET quantity = -1 WHERE id = 1'],
  ['a quantity over 2,147,483,647', 'UPDATE pets SET quantity = 2147483648 WHERE id = 1'],
  ['half a unit', "UPDATE pets SET quantity = '1.5' WHERE id = 1"],
  ['an available pet without stock', 'UPDATE pets SET quantity = 0 WHERE id = 1'],
  ['a sold pet made available without stock', "UPDATE pets SET status = 'available' WHERE id = 2"],
  ['a sold pet with stock', 'UPDATE pets SET quantity = 1 WHERE id = 2'],
  ['a sale under an open order', "UPDATE pets SET status = 'sold', quantity = 0 WHERE id = 1"],
  ['a status that does not exist', "UPDATE pets SET status = 'lost' WHERE id = 1"],
  ['a pet without a status', 'UPDATE pets SET status = NULL WHERE id = 1'],
  ['deleting a pet with an open order', 'DELETE FROM pets WHERE id = 1'],
  ['another ID for a pet with an open order', 'UPDATE pets SET id = 9 WHERE id = 1'],
  ['a pet in no category', 'UPDATE pets SET category_id = 9 WHERE id = 1'],
  ['a pet without a name', "UPDATE pets SET name = '' WHERE id = 1"],
  ['a pet with an endless name', `UPDATE pets SET name = '${'x'.repeat(201)}' WHERE id = 1`],
  ['an ID of 0', "INSERT INTO categories (id, name, name_key) VALUES (0, 'x', 'x')"],
  [
    'an ID that is too large for JSON numbers',
    "INSERT INTO categories (id, name, name_key) VALUES (9007199254740992, 'x', 'x')",
  ],
  ['two categories with one name', "INSERT INTO categories (name, name_key) VALUES ('DOGS', 'dogs')"],
  ['deleting a category with pets', 'DELETE FROM categories WHERE id = 1'],
  ['an endless description', `UPDATE categories SET description = '${'x'.repeat(2001)}' WHERE id = 1`],
  ['an open order for a sold pet', 'INSERT INTO orders (pet_id, quantity, complete) VALUES (2, 1, 0)'],
  ['an open order for a pet that does not exist', 'UPDATE orders SET pet_id = 9 WHERE id = 1'],
  ['an open order moved to a sold pet', 'UPDATE orders SET pet_id = 2 WHERE id = 1'],
  ['a completed order opened again for a sold pet', 'UPDATE orders SET complete = 0 WHERE id = 2'],
  ['an order for no units', 'UPDATE orders SET quantity = 0 WHERE id = 1'],
  ['an order for too many units', 'UPDATE orders SET quantity = 2147483648 WHERE id = 1'],
  ['a completed order without a pet', 'INSERT INTO orders (quantity, ship_date, complete) VALUES (1, 0, 1)'],
  ['a completed order without a ship date', 'UPDATE orders SET complete = 1 WHERE id = 1'],
  ['an order neither open nor complete', 'UPDATE orders SET complete = 2 WHERE id = 1'],
  ['an Enterprise key without quotas', 'UPDATE api_keys SET per_day = NULL'],
  ['quotas on another plan', "UPDATE api_keys SET plan = 'pro'"],
  ['a key without a hash', "UPDATE api_keys SET hash = x''"],
  ['a kind of key that does not exist', "UPDATE api_keys SET kind = 'public'"],
  ['a publishable key with other scopes than to read', "UPDATE api_keys SET kind = 'publishable'"],
  ['a test key with another plan than Free', "UPDATE api_keys SET kind = 'test', scopes = 'pets:read'"],
  [
    'a test key that manages webhooks',
    "UPDATE api_keys SET kind = 'test', plan = 'free', per_minute = NULL, per_day = NULL, scopes = 'pets:read webhooks:write'",
  ],
  [
    'an origin of a key that does not exist',
    "INSERT INTO api_key_origins VALUES (9, 'https://shop.example')",
  ],
  ['an empty origin', "INSERT INTO api_key_origins VALUES (1, '')"],
  [
    'an event without an actor',
    "INSERT INTO events (id, type, subject, time, data) VALUES (1, 'pet.updated', 'pets/1', 0, '{}')",
  ],
  [
    'an outcome stored for a key that does not exist',
    "INSERT INTO idempotency_keys VALUES (9, 'k', zeroblob(32), '/pets/1', '{}', 0)",
  ],
];

/** A store that executes SQL without checks of its own. */
interface RawStore {
  exec(sql: string): Promise<void>;
  all(sql: string): Promise<unknown[]>;
  close(): Promise<void>;
}

async function rawSqlite(): Promise<RawStore> {
  const db = new BetterSqlite3(':memory:');
  db.pragma('foreign_keys = ON');
  migrateSqlite(db);
  return {
    exec: async sql => void db.exec(sql),
    all: async sql => db.prepare(sql).all(),
    close: async () => void db.close(),
  };
}

async function rawPostgres(): Promise<RawStore> {
  const { url, drop } = await newDatabase();
  const client = new pg.Client(url);
  await client.connect();
  return {
    exec: async sql => void (await client.query(asPostgres(sql))),
    all: async sql => (await client.query(sql)).rows,
    close: async () => {
      await client.end();
      await drop();
    },
  };
}

function asPostgres(sql: string): string {
  return sql.replaceAll('zeroblob(32)', "decode(repeat('00', 32), 'hex')").replaceAll("x''", "'\\x'::bytea");
}

/** The errors of both engines for a broken constraint or a wrong column type. */
const REJECTED = /constraint|cannot store|invalid input syntax/i;

for (const [engine, open] of Object.entries({ SQLite: rawSqlite, PostgreSQL: rawPostgres })) {
  describe(`the database itself, on ${engine}, rejects`, () => {
    let db: RawStore;
    before(async () => {
      db = await open();
      await db.exec(shop);
    });
    after(() => db.close());

    async function contents(): Promise<unknown[]> {
      const rows: unknown[] = [];
      for (const table of ['categories', 'pets', 'orders', 'api_keys', 'api_key_origins', 'idempotency_keys'])
        rows.push(await db.all(`SELECT * FROM ${table}`));
      return rows;
    }

    for (const [what, sql] of violations) {
      it(what, async () => {
        const before = await contents();
        await assert.rejects(db.exec(sql), REJECTED);
        assert.deepEqual(await contents(), before);
      });
    }
  });
}
