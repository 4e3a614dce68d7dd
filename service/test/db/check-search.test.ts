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
];

describe('a check of a store', () => {
  for (const [change, expected] of cases) {
    it(`compares the words of search with the names: ${change || 'intact'}`, async t => {
      const path = join(dataDirectory(t), 'petstore.db');
      const db = new BetterSqlite3(path);
      migrateSqlite(db);
      db.exec(`
        INSERT INTO categories (name, name_key) VALUES ('Dogs', 'dogs');
        INSERT INTO pets (name, name_key, indexed_name, category_id, status, quantity) VALUES
          ('Rex of Kent', 'rex of kent', 'rex of kent', 1, 'available', 1),
          ('Not indexed', 'not indexed', NULL, 1, 'available', 1);
        INSERT INTO pet_words VALUES ('of', 'rex of kent', 1), ('kent', 'rex of kent', 1);
        ${change}`);
      db.close();
      assert.deepEqual((await checkStore(path)).violations, expected);
    });
  }
});
