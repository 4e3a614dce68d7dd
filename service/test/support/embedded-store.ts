import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Database, Queries, Statements } from '../../src/db/database.ts';
import { openSqlite, type SqliteOptions } from '../../src/db/sqlite.ts';
import { systemClock } from '../../src/kit/clock.ts';

/** A directory that is removed when the test ends. */
export function temporaryDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-test-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** Opens an embedded store, in a directory of its own unless another is given, and closes it when the test ends. */
export function openEmbedded(t: TestContext, options: Partial<SqliteOptions> = {}): Database {
  const { directory = temporaryDirectory(t) } = options;
  const db = openSqlite({
    writeBatch: 1_024,
    maxQueue: 1_000,
    clock: systemClock,
    ...options,
    directory,
  });
  // The test may have closed it already.
  t.after(() => db.close().catch(() => {}));
  return db;
}

export function addCategory(tx: Pick<Statements, 'run'>, name: string): Promise<number> {
  return tx.run('INSERT INTO categories (name, name_key) VALUES (?, ?)', [name, name]);
}

/** The names of the categories, in the order in which they were added. */
export async function categoriesIn(db: Queries): Promise<string[]> {
  const rows = await db.all<{ name: string }>('SELECT name FROM categories ORDER BY id');
  return rows.map(({ name }) => name);
}
