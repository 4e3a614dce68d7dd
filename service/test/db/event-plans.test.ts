import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Scope } from '../../src/contract/scopes.ts';
import type { Database, Queries, Value } from '../../src/db/database.ts';
import { CHECK, RELAY } from '../../src/db/postgres-relay.ts';
import { type EventFilter, eventFilter } from '../../src/events/event-log/event-filter.ts';
import { selectEvents, selectSlice } from '../../src/events/event-log/event-queries.ts';
import { eventTypeNames } from '../../src/events/event-log/event-types.ts';
import { MAX_COUNTED } from '../../src/kit/paging.ts';
import { engines } from '../support/engines.ts';
import { numbersTo } from '../support/numbers.ts';
import { explain, type PlanNode, planModes } from '../support/query-plans.ts';
import { newDatabase, withSession } from '../support/test-store.ts';
import { until } from '../support/until.ts';

const EVENTS = 60_000;
const LIMIT = 20;

/**
 * A log with updates of one pet, and with the stock and the orders of another one. Other types, subjects and actors occur once, at its
 * end.
 */
const FILL = `
  ${numbersTo(EVENTS)}
  INSERT INTO events (id, type, subject, time, data, actor, related)
  SELECT n,
    CASE n % 4 WHEN 2 THEN 'inventory.updated' WHEN 3 THEN 'order.updated' ELSE 'pet.updated' END,
    CASE n % 4 WHEN 2 THEN 'store/inventory/2' WHEN 3 THEN 'store/orders/' || (1000 + n) ELSE 'pets/1' END,
    0, '{}', CASE n % 2 WHEN 0 THEN 'system' ELSE 'keys/2' END, CASE n % 4 WHEN 3 THEN 'pets/2' END
  FROM numbers`;

/** A log in which nearly all events have one type, and all have one actor. */
const FILL_WITH_ONE_ACTOR = `
  ${numbersTo(EVENTS)}
  INSERT INTO events (id, type, subject, time, data, actor)
  SELECT n, CASE n % 1000 WHEN 0 THEN 'inventory.updated' ELSE 'pet.updated' END, 'pets/' || n, 0, '{}', 'keys/1' FROM numbers`;

/** An ordinary key, which also gets the warnings about itself. */
const readerWith = (...scopes: Scope[]) => ({ keyId: 2, scopes: new Set(scopes) });

const filters: Record<string, EventFilter> = {
  'no filter': { types: undefined, subject: undefined },
  'all types that an ordinary key may read': eventFilter({}, readerWith('pets:read', 'orders:read')),
  'all types of a key that may read few of the events': eventFilter(
    {},
    readerWith('orders:read', 'inventory:read'),
  ),
  'a subject of such a key': eventFilter({ subject: 'store/inventory/4' }, readerWith('inventory:read')),
  'a rare type': { types: new Set(['order.completed']), subject: undefined },
  'a common and a rare type': { types: new Set(['pet.updated', 'order.completed']), subject: undefined },
  'a rare subject': { types: undefined, subject: 'store/orders/7' },
  'a common subject': { types: undefined, subject: 'pets/1' },
  'a rare type of a common subject': { types: new Set(['pet.deleted']), subject: 'pets/1' },
  'a subject that no event has': { types: undefined, subject: 'pets/999' },
  'a subject with its stock and its orders': { types: undefined, subject: 'pets/2', related: true },
  'orders of such a subject': { types: new Set(['order.updated']), subject: 'pets/2', related: true },
  'a rare subject with its stock and its orders': { types: undefined, subject: 'pets/999', related: true },
  'a common actor': { types: undefined, subject: undefined, actor: 'keys/2' },
  'a rare actor': { types: undefined, subject: undefined, actor: 'keys/9' },
  'a type of a common actor': { types: new Set(['order.updated']), subject: undefined, actor: 'system' },
  'all that an ordinary key may read of an actor': eventFilter(
    { actor: 'keys/2' },
    readerWith('pets:read', 'orders:read'),
  ),
  'its own key': eventFilter({ subject: 'keys/2' }, readerWith('orders:read')),
  'changes of the service for such a key': eventFilter({ actor: 'system' }, readerWith('orders:read')),
  'a subject that cannot exist': { types: undefined, subject: 'nothing/1' },
};

type Part = Pick<Parameters<typeof selectEvents>[2], 'until' | 'counted' | 'order'>;

const parts: Record<string, Part> = {
  'of the whole log': {},
  'of the whole log, newest first': { order: 'DESC' },
  'of a period, newest first': { until: EVENTS / 2, order: 'DESC' },
  'of a period': { until: EVENTS / 2 },
  'of the whole log, counted': { counted: { after: 0 } },
  'of a period, counted': { until: EVENTS, counted: { after: EVENTS - 100, until: EVENTS } },
};

/**
 * How many rows of the log a page of the filter reads. SQLite has no count: all rows if it scans the log, or reads it in the order
 * of IDs for a filter; otherwise 0.
 */
const rowsRead: Record<string, (db: Database, filter: EventFilter, part: Part) => Promise<number>> = {
  SQLite: async (db, filter, part) => {
    const [sql, values] = await statementOf(filter, part);
    const steps = await db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values);
    const isFiltered = [filter.types, filter.subject, filter.actor].some(value => value !== undefined);
    const isScan = (detail: string) =>
      detail.startsWith('SCAN events') || (isFiltered && /^SEARCH events .*\(rowid>/.test(detail));
    return steps.some(({ detail }) => isScan(detail)) ? EVENTS : 0;
  },
  PostgreSQL: async (db, filter, part) => {
    const [sql, values] = await statementOf(filter, part);
    const [row] = await db.all<Record<string, [{ Plan: PlanNode }]>>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
      values,
    );
    return rowsOf(row!['QUERY PLAN']![0].Plan);
  },
};

function rowsOf(plan: PlanNode): number {
  const removed = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0);
  const own = plan['Relation Name'] === 'events' ? (plan['Actual Rows'] + removed) * plan['Actual Loops'] : 0;
  return (plan.Plans ?? []).reduce((sum, child) => sum + rowsOf(child), own);
}

async function statementOf(
  filter: EventFilter,
  part: Part,
): Promise<[sql: string, values: readonly Value[]]> {
  const request = { after: 0, limit: LIMIT, ...part };
  const { subject, actor } = filter;
  let statement: [string, readonly Value[]] | undefined;
  const queries = {
    all: async (sql: string, values: readonly Value[]) => {
      statement = [sql, values];
      return [{ id: null }];
    },
  } as unknown as Queries;
  if (subject !== undefined && actor !== undefined) await selectSlice(queries, { ...filter, actor }, request);
  else await selectEvents(queries, filter, request);
  return statement!;
}

for (const [engine, open] of Object.entries(engines)) {
  it(`a page of a long log on ${engine} reads only about as many rows as it has, for every filter`, async t => {
    const { db } = await open(t);
    await db.run(FILL);
    for (const [place, type] of eventTypeNames.entries()) {
      if (type !== 'pet.updated') await insert(db, EVENTS + 1 + place, type, `store/orders/${place}`);
    }
    await insert(db, EVENTS + 100, 'order.placed', 'store/orders/7');
    await db.run('ANALYZE events');
    for (const [name, filter] of Object.entries(filters)) {
      for (const [part, { counted, until, order }] of Object.entries(parts)) {
        const rows = await rowsRead[engine]!(db, filter, { counted, until, order: order ?? 'ASC' });
        // PostgreSQL counts a type that a quarter of the events have in the order of the table, and passes the others.
        const most = LIMIT * (eventTypeNames.length + 2) + (counted ? 4 * (MAX_COUNTED + 1) : 0);
        assert.ok(rows <= most, `${name}, ${part}: ${rows} rows`);
      }
    }
  });
}

/** Events that are examined at once. */
const SLICE = 1_000;

const slices: Record<string, EventFilter> = {
  'a common subject and a common actor': { types: undefined, subject: 'pets/1', actor: 'system' },
  'a common subject and an actor that no event has': { types: undefined, subject: 'pets/1', actor: 'keys/9' },
  'a subject with its stock and its orders, and a common actor': {
    types: undefined,
    subject: 'pets/2',
    related: true,
    actor: 'keys/2',
  },
};

for (const [engine, open] of Object.entries(engines)) {
  it(`a slice of a long log on ${engine} reads only about as many rows as it examines`, async t => {
    const { db } = await open(t);
    await db.run(FILL);
    await db.run('ANALYZE events');
    for (const [name, filter] of Object.entries(slices)) {
      for (const order of ['ASC', 'DESC'] as const) {
        const rows = await rowsRead[engine]!(db, filter, { order });
        // From each of up to three indexes, then of the slice, then of the page.
        assert.ok(rows <= 4 * SLICE + LIMIT, `${name}, ${order}: ${rows} rows`);
      }
    }
  });
}

it('the twelfth page of a long log on PostgreSQL also reads only about as many rows as it has: no plan for a frequent type or actor is kept', async t => {
  const { db } = await engines.PostgreSQL!(t);
  await db.run(FILL_WITH_ONE_ACTOR);
  await db.run('ANALYZE events');
  const filter: EventFilter = { types: undefined, subject: undefined, actor: 'keys/1' };
  const pages = 12;
  for (let page = 0; page < pages; page++)
    await selectEvents(db, filter, { after: 0, until: EVENTS, limit: LIMIT, order: 'DESC' });
  const { scans, rows } = await readsOfEvents(db, pages * eventTypeNames.length);
  assert.ok(rows <= pages * LIMIT * 10, `${rows} rows in ${scans} scans`);
});

/** The scans of the indexes of the log, and the rows that they returned. A session reports them at a query a second after its last report. */
async function readsOfEvents(db: Database, atLeast: number): Promise<{ scans: number; rows: number }> {
  let reads = { scans: 0, rows: 0 };
  await until('the scans are reported', async () => {
    const [row] = await db.all<typeof reads>(
      `SELECT sum(idx_scan)::int AS scans, sum(idx_tup_read)::int AS rows FROM pg_stat_user_indexes WHERE relname = 'events'`,
    );
    reads = row!;
    return reads.scans >= atLeast;
  });
  return reads;
}

function insert(db: Database, id: number, type: string, subject: string): Promise<number> {
  return db.run(
    "INSERT INTO events (id, type, subject, time, data, actor) VALUES (?, ?, ?, 0, ?, 'system')",
    [...[id, type, subject, '{}']],
  );
}

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
