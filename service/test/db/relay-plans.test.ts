import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CHECK, RELAY } from '../../src/db/postgres-relay.ts';
import { explain, type PlanNode, planModes } from '../support/query-plans.ts';
import { newDatabase, withSession } from '../support/test-store.ts';

const WAITING = 3_000;

const WAIT = `
  INSERT INTO new_events (type, subject, time, data, actor)
  SELECT 'pet.updated', 'pets/' || n, 0, '{}', 'system' FROM generate_series(1, ${WAITING}) AS n`;

it('the relay scans neither the log nor the waiting events, in a store without statistics, with waiting events, and in one that PostgreSQL has analyzed', async t => {
  // Without a store, whose relay would number events as well.
  const { url, drop } = await newDatabase();
  t.after(drop);
  await withSession(url, async session => {
    const assertBounded = async (state: string) => {
      for (const [sql, values] of [
        [RELAY, [0, 0]],
        [CHECK, []],
      ] as const) {
        for (const mode of planModes) {
          const plan = await explain(session, { sql, values, plan: undefined }, mode);
          assert.deepEqual(scannedTables(plan), [], `${state}, ${mode}: ${sql}`);
        }
      }
    };
    await assertBounded('new store');
    await session.query(WAIT);
    await assertBounded('events wait');
    await session.query(WAIT);
    await session.query('VACUUM ANALYZE');
    await assertBounded('analyzed');
    const { rows } = await session.query(
      'SELECT count(*)::int AS groups, max(last_id - first_id + 1)::int AS largest FROM event_seals',
    );
    assert.deepEqual(rows, [{ groups: 4, largest: 1_000 }], 'each run has numbered one group');
  });
});

/** The scanned tables of those that grow with the changes. The number of the last event and few seals are a page. */
function scannedTables({ 'Node Type': type, 'Relation Name': table, Plans = [] }: PlanNode): string[] {
  const own = type === 'Seq Scan' && /^(new_)?events$/.test(table!) ? [table!] : [];
  return [...own, ...Plans.flatMap(scannedTables)];
}
