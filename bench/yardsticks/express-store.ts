import { hash, randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';

export interface ApiKey {
  id: number;
  scopes: string[];
  perMinute: number;
  perDay: number;
}

export interface NewPet {
  name: string;
  categoryId: number;
  status: 'available' | 'pending' | 'sold';
}

export interface Pet extends NewPet {
  id: number;
}

/** The response that is stored for an Idempotency-Key. */
export interface StoredResponse {
  fingerprint: string;
  status: number;
  location: string | null;
  body: string;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS api_keys (
    id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, scopes TEXT NOT NULL,
    per_minute INTEGER NOT NULL, per_day INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS categories (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE) STRICT;
  CREATE TABLE IF NOT EXISTS pets (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, category_id INTEGER NOT NULL REFERENCES categories (id),
    status TEXT NOT NULL, stock INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS idempotency_keys (
    api_key_id INTEGER NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, status INTEGER NOT NULL,
    location TEXT, body TEXT NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY (api_key_id, key)
  ) STRICT, WITHOUT ROWID;
`;

export type Store = ReturnType<typeof openStore>;

/** Opens the store. A new store gets one category and one key, whose secret is written to `admin.key`. */
export function openStore(directory: string) {
  const db = new Database(join(directory, 'petstore.db'));
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  db.exec(SCHEMA);
  if (!existsSync(join(directory, 'admin.key'))) seed(db, directory);

  const findKey = db.prepare<[Buffer], { id: number; scopes: string; perMinute: number; perDay: number }>(
    'SELECT id, scopes, per_minute AS perMinute, per_day AS perDay FROM api_keys WHERE hash = ?',
  );
  const findPet = db.prepare<[number], Pet>(
    'SELECT id, name, category_id AS categoryId, status FROM pets WHERE id = ?',
  );
  const findCategory = db.prepare<[number]>('SELECT 1 FROM categories WHERE id = ?');
  const insertPet = db.prepare<[string, number, string, number]>(
    'INSERT INTO pets (name, category_id, status, stock) VALUES (?, ?, ?, ?)',
  );
  const findResponse = db.prepare<[number, string, number], StoredResponse>(
    `SELECT fingerprint, status, location, body FROM idempotency_keys
     WHERE api_key_id = ? AND key = ? AND created_at > ?`,
  );
  const insertResponse = db.prepare<[number, string, string, number, string | null, string, number]>(
    'INSERT OR REPLACE INTO idempotency_keys VALUES (?, ?, ?, ?, ?, ?, ?)',
  );

  return {
    findApiKey(secret: string): ApiKey | undefined {
      const row = findKey.get(sha256(secret));
      return row && { ...row, scopes: row.scopes.split(' ') };
    },
    findPet: (id: number) => findPet.get(id),
    categoryExists: (id: number) => findCategory.get(id) !== undefined,
    insertPet(pet: NewPet): Pet {
      const { lastInsertRowid } = insertPet.run(
        pet.name,
        pet.categoryId,
        pet.status,
        pet.status === 'sold' ? 0 : 1,
      );
      return { id: Number(lastInsertRowid), ...pet };
    },
    findResponse: (apiKeyId: number, key: string, since: number) => findResponse.get(apiKeyId, key, since),
    insertResponse(apiKeyId: number, key: string, response: StoredResponse): void {
      const { fingerprint, status, location, body } = response;
      insertResponse.run(apiKeyId, key, fingerprint, status, location, body, Date.now());
    },
    inTransaction: <T>(work: () => T): T => db.transaction(work).immediate(),
    close: () => db.close(),
  };
}

function seed(db: Database.Database, directory: string): void {
  const secret = `psk_${randomBytes(24).toString('base64url')}`;
  db.transaction(() => {
    db.prepare('INSERT INTO api_keys (hash, scopes, per_minute, per_day) VALUES (?, ?, ?, ?)').run(
      sha256(secret),
      'pets:read pets:write',
      1e9,
      1e12,
    );
    db.prepare('INSERT INTO categories (name) VALUES (?)').run('Dogs');
  })();
  writeFileSync(join(directory, 'admin.key'), secret, { mode: 0o600 });
}

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
