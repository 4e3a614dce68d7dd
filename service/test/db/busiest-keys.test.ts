import assert from 'node:assert/strict';
import { it } from 'node:test';
import { busiestKeys } from '../../src/access/rate-limits/busiest-keys.ts';
import type { Database, Queries, Value } from '../../src/db/database.ts';
import { DAY } from '../../src/kit/clock.ts';
import { engines } from '../support/engines.ts';
import { numbersTo } from '../support/numbers.ts';

const KEYS = 5_000;

/** Keys that each have as many requests on day 5 as their number, half of them rejected. */
async function fill(db: Database): Promise<void> {
  const hash = db.engine === 'sqlite' ? 'randomblob(32)' : 'sha256(CAST(n AS TEXT)::bytea)';
  await db.run(
    `${numbersTo(KEYS)} INSERT INTO api_keys (id, name, name_key, hash, kind, plan, scopes, created_at)
     SELECT n, 'Key', 'key', ${hash}, 'secret', 'free', '', 0 FROM numbers`,
  );
  await db.run(
    `${numbersTo(KEYS)} INSERT INTO key_usage (api_key_id, day, resets, admitted, rejected, earlier_admitted, earlier_rejected)
     SELECT n, 5, 0, n - n / 2, n / 2, 0, 0 FROM numbers`,
  );
  if (db.engine === 'postgres') await db.run('ANALYZE key_usage');
}

async function planOf(db: Database): Promise<string> {
  let sent: [sql: string, values: readonly Value[]] | undefined;
  const all = async (...statement: [string, Value[]]) => {
    sent = statement;
    return [];
  };
  await busiestKeys({ all } as unknown as Queries, 5 * DAY, 20);
  const [sql, values] = sent!;
  const explain = db.engine === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
  return JSON.stringify(await db.all(`${explain} ${sql}`, values));
}

for (const [engine, open] of Object.entries(engines)) {
  it(`the busiest keys on ${engine} are read from an index in their order, also among ${KEYS} keys`, async t => {
    const { db } = await open(t);
    await fill(db);
    const { keys } = await busiestKeys(db, 5 * DAY + 1, 20);
    const expected = Array.from({ length: 20 }, (_, i) => KEYS - i);
    assert.deepEqual(
      keys.map(({ keyId, admitted, refused }) => [keyId, admitted + refused]),
      expected.map(n => [n, n]),
    );
    const plan = await planOf(db);
    assert.match(plan, /key_usage_by_requests/);
    assert.doesNotMatch(plan, /Seq Scan on key_usage|SCAN key_usage/);
    // Only the page itself is sorted once more, after its join.
    if (engine === 'SQLite') assert.equal(plan.match(/TEMP B-TREE FOR ORDER BY/g)?.length, 1);
  });
}
