import assert from 'node:assert/strict';
import { invariants } from '../../src/db/invariants.ts';

const sql = invariants
  .map(({ name, sql }) => `SELECT '${name}' AS rule, id FROM (${sql}) AS broken`)
  .join(' UNION ALL ');

/** Fails when the store breaks a rule of stock or orders, or its event log has a gap. */
export async function assertInvariants(all: (sql: string) => unknown[] | Promise<unknown[]>): Promise<void> {
  assert.deepEqual(await all(sql), []);
}
