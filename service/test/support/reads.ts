import type { TestContext } from 'node:test';
import type { Database } from '../../src/db/database.ts';

/** Returns a function that counts the reads of rows since this call whose statement matches the pattern. */
export function readsOf(t: TestContext, db: Database, statement: RegExp): () => number {
  const { mock } = t.mock.method(db, 'all');
  return () => mock.calls.filter(({ arguments: [sql] }) => statement.test(sql)).length;
}
