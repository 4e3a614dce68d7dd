import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { checkStore } from '../../src/db/check-store.ts';
import { migrateSqlite } from '../../src/db/migrate-sqlite.ts';
import { dataDirectory } from '../support/service-process.ts';

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

describe('a check of a store', () => {
  for (const [change, expected] of cases) {
    it(`compares the words of search with the names: ${change || 'intact'}`, async t => {
      const path = join(dataDirectory(t), 'petstore.db');
      const db = new BetterSqlite3(path);
      migrateSqlite(db);
      db.exec(`
        INSERT INTO categories (name, name_key) VALUES ('Dogs', 'dogs');
        INSERT INTO pets (name, name_key, category_id, status, quantity) VALUES
          ('Rex of Kent', 'rex of kent', 1, 'available', 1),
          ('New name', 'new name', 1, 'available', 1),
          ('Not indexed', 'not indexed', 1, 'available', 1);
        INSERT INTO pets_to_index VALUES (2, 'old name'), (3, NULL), (4, 'deleted name');
        INSERT INTO pet_words VALUES ('of', 'rex of kent', 1), ('kent', 'rex of kent', 1),
          ('name', 'old name', 2), ('name', 'deleted name', 4);
        ${change}`);
      db.close();
      assert.deepEqual((await checkStore(path)).violations, expected);
    });
  }

  it('compares the words of the last of many pets', async t => {
    const path = join(dataDirectory(t), 'petstore.db');
    const db = new BetterSqlite3(path);
    migrateSqlite(db);
    db.exec(`
      INSERT INTO categories (name, name_key) VALUES ('Dogs', 'dogs');
      INSERT INTO pets (name, name_key, category_id, status, quantity)
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10001)
        SELECT 'Rex of', 'rex of', 1, 'available', 1 FROM n;
      INSERT INTO pet_words SELECT 'of', 'rex of', id FROM pets;
      UPDATE pet_words SET word = 'kent' WHERE pet_id = 10001`);
    db.close();
    const { violations } = await checkStore(path);
    assert.deepEqual(violations, ['Rule: a pet that search does not find: ID 10001']);
  });
});
