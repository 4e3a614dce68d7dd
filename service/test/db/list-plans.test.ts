import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from 'pg';
import { categoryTable } from '../../src/catalog/categories/category.ts';
import type { Database } from '../../src/db/database.ts';
import { defineList } from '../../src/db/define-list.ts';
import { unique } from '../../src/db/list.ts';
import { selectPage } from '../../src/db/select-page.ts';
import { InvalidListing, MAX_COUNTED } from '../../src/kit/paging.ts';
import type { Caller } from '../../src/routes/context.ts';
import { engines, openPostgresStore } from '../support/engines.ts';
import { fillLists, filterValue } from '../support/full-lists.ts';
import { combinationsOf, type ListRoute, lists, readPage } from '../support/lists.ts';
import { explain, type PlanNode, planModes, recorded, type Sent } from '../support/query-plans.ts';
import { withSession } from '../support/test-store.ts';

/** Returns why a plan reads more than a page; empty when it does not. */
type Explain = (sent: Sent) => Promise<string[]>;

const callers: Caller[] = [
  { keyId: 1, kind: 'secret', scopes: new Set(['admin']), origins: null, networks: null },
  {
    keyId: 1,
    kind: 'secret',
    scopes: new Set(['events:read', 'webhooks:write']),
    origins: null,
    networks: null,
  },
];

/** Every query for a page that a request can cause: all filters and sorts, first and later pages. */
async function* pageQueries(db: Database, list: ListRoute): AsyncGenerator<Sent & { name: string }> {
  let sent: Sent | undefined;
  const recorder = recorded(db, query => {
    sent = query;
  }) as Database;
  for (const { filters, sort } of combinationsOf(list)) {
    const name = `${list.route.path} by ${filters.join(', ') || 'nothing'}, ${sort ?? 'without a sort'}`;
    // Only lists of webhooks depend on the caller.
    for (const caller of list.route.path.startsWith('/webhooks') ? callers : callers.slice(0, 1)) {
      const query = { ...valuesFor(list, filters, 'common'), ...(sort && { sort }), limit: 2 };
      const reply = await readPage(list, query, { db: recorder, caller }).catch((error: unknown) => {
        assert.ok(error instanceof InvalidListing, String(error));
      });
      if (!reply) continue;
      assert.ok(reply.kind === 'page');
      const { items, next } = reply.page;
      yield { ...sent!, name };
      if (next !== undefined) {
        await readPage(list, { ...query, cursor: next }, { db: recorder, caller });
        yield { ...sent!, name: `${name}, second page` };
      }
      // A unique column has one row with a value.
      assert.ok(next !== undefined || items.length === 1, `${name}: no second page`);
      const none = { ...query, ...valuesFor(list, filters, 'absent') };
      await readPage(list, none, { db: recorder, caller });
      yield { ...sent!, name: `${name}, without a match` };
      // A count in descending order reads the same ranges.
      if (sort?.startsWith('-')) continue;
      await readPage(list, { ...query, count: true }, { db: recorder, caller });
      yield { ...sent!, name: `${name}, counted` };
      await readPage(list, { ...none, count: true }, { db: recorder, caller });
      yield { ...sent!, name: `${name}, counted without a match` };
    }
  }
}

function valuesFor(list: ListRoute, names: readonly string[], match: 'common' | 'absent'): object {
  return Object.fromEntries(names.map(name => [name, filterValue(list, name, match)]));
}

async function assertBounded(db: Database, explain: Explain): Promise<void> {
  for (const list of lists) {
    for await (const { name, ...sent } of pageQueries(db, list)) {
      assert.deepEqual(await explain(sent), [], `${name}: ${sent.sql.slice(0, 2_000)}`);
    }
  }
}

/** How many of a query's parameters are conditions, not limits. */
function conditionsOf(sql: string): number {
  return sql.replaceAll('LIMIT ?', '').split('?').length - 1;
}

interface SqliteStep {
  id: number;
  parent: number;
  detail: string;
}

/** Finds the steps in which SQLite would read more than a page. */
async function explainSqlite(db: Database, { sql, values }: Sent): Promise<string[]> {
  const steps = await db.all<SqliteStep>(`EXPLAIN QUERY PLAN ${sql}`, values);
  // The rows of a page whose keys were merged are read by their IDs, and then sorted.
  const isRowOfPage = ({ detail }: SqliteStep) =>
    sql.includes(' AS found') && /^SEARCH \w+ USING INTEGER PRIMARY KEY \(rowid=\?\)$/.test(detail);
  const isTable = (step: SqliteStep) =>
    /^(SCAN|SEARCH) (?!(listed|counted|page|found)\b)/.test(step.detail) && !isRowOfPage(step);
  const faults = steps.filter(
    step =>
      /TEMP B-TREE/.test(step.detail) && steps.some(other => other.parent === step.parent && isTable(other)),
  );
  const reads = steps.filter(isTable);
  const partial = await db.all<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql LIKE '% WHERE %'",
  );
  for (const step of reads) {
    const [, index] = /INDEX (\w+)/.exec(step.detail) ?? [];
    const isPartial = partial.some(({ name }) => name === index);
    if (/ IS (NOT )?NULL/.test(sql) && !isPartial) faults.push(step);
    if (step.detail.startsWith('SCAN') && sql.includes('WHERE') && !isPartial) faults.push(step);
  }
  if (sql.includes(' AS listed')) {
    // Also those that SQLite makes for the constraint UNIQUE, which have no statement in the schema.
    const unique = await db.all<{ name: string }>(
      `SELECT made.name FROM sqlite_schema AS created, pragma_index_list(created.name) AS made
         WHERE created.type = 'table' AND made."unique" = 1 AND (SELECT count(*) FROM pragma_index_info(made.name)) = 1`,
    );
    const keys = ['INTEGER PRIMARY KEY', ...unique.map(({ name }) => `INDEX ${name}`)].join('|');
    const isByKey = new RegExp(`USING (${keys}) \\(\\w+=\\?\\)$`);
    faults.push(...reads.filter(({ detail }) => !isByKey.test(detail)));
  } else if (
    reads.map(({ detail }) => detail.split('?').length - 1).reduce((a, b) => a + b) !== conditionsOf(sql)
  ) {
    // A condition that does not narrow an index makes SQLite read rows that it then filters out.
    faults.push(...reads);
  }
  return faults.map(({ detail }) => detail);
}

/** Enough for pages of two from each range of an index. A whole range has some hundred blocks. */
const MAX_BLOCKS_OF_RANGE = 20;

/** Finds the nodes in which PostgreSQL would read more than a page. */
function faultsOf(node: PlanNode, isLimited = false): string[] {
  const { 'Node Type': type, Filter: filter, Plans: inner = [] } = node;
  const faults: string[] = [];
  const isSorted = /Sort/.test(type);
  if (/Scan/.test(type) && type !== 'Subquery Scan') {
    if (!/^Index (Only )?Scan$/.test(type) && !(isLimited && /^Bitmap/.test(type))) faults.push(type);
    if (filter !== undefined) faults.push(`${type} with Filter ${filter}`);
  }
  for (const plan of inner) {
    faults.push(...faultsOf(plan, isLimited));
    if (isSorted && !isBounded(plan)) faults.push(`${type} of ${plan['Node Type']}`);
  }
  return faults;
}

/** Whether a node returns at most some pages. A result without a plan has at most one row. */
function isBounded({ 'Node Type': type, Plans: inner = [] }: PlanNode): boolean {
  if (inner.length === 0) return type === 'Result';
  return type === 'Limit' || inner.every(isBounded);
}

/** Finds what is wrong with the plan for these values, and with the one for any, which is the same for all values of a statement. */
async function faultsOfPlans(session: Client, sent: Sent, known: Set<string>): Promise<string[]> {
  const modes = planModes.filter(mode => mode === 'force_custom_plan' || !known.has(sent.sql));
  known.add(sent.sql);
  const faults: string[] = [];
  const costs: number[] = [];
  for (const mode of modes) {
    const plan = await explain(session, sent, mode);
    costs.push(plan['Total Cost']);
    faults.push(...faultsOf(plan), ...(readsTooMuch(plan, sent.sql) ? ['too much is read'] : []));
  }
  const [custom, generic] = costs;
  if (isOfRanges(sent) && generic !== undefined && generic > custom!)
    faults.push(
      `The plan for any values costs ${generic}, and that for these ${custom}: each page would be planned`,
    );
  return faults;
}

/** Whether a query reads a page by ranges of an index. */
function isOfRanges({ sql, plan }: Sent): boolean {
  return plan === undefined && !sql.includes(' AS listed');
}

/** PostgreSQL can read beyond the end of a range, which no plan shows. */
function readsTooMuch(plan: PlanNode, sql: string): boolean {
  if (sql.includes(' AS counted')) return rowsRead(plan) > MAX_COUNTED + 1 + 3 * 100;
  const blocks = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  const ranges = Math.max(sql.split(' UNION ALL ').length, 3);
  return !sql.includes(' AS listed') && blocks > ranges * MAX_BLOCKS_OF_RANGE;
}

function rowsRead({ 'Node Type': type, Plans: inner = [], ...node }: PlanNode): number {
  const own = /^Index/.test(type) ? node['Actual Rows'] * node['Actual Loops'] : 0;
  return inner.reduce((sum, plan) => sum + rowsRead(plan), own);
}

describe('every filter and sort of every list reads no more than a page', () => {
  it('on SQLite', async t => {
    const { db } = await engines.SQLite!(t);
    await fillLists(db);
    await assertBounded(db, sent => explainSqlite(db, sent));
  });

  it('on SQLite, by the index that it makes for a column with the constraint UNIQUE', async t => {
    const { db } = await engines.SQLite!(t);
    const sent: Sent[] = [];
    const recorder = recorded(db, query => void sent.push(query));
    const list = defineList(categoryTable, {
      filters: { name: unique('name', { type: 'string' }) },
      sorts: { id: ['id'] },
      defaultSort: 'id',
    });
    await selectPage(recorder, list, { name: 'Cats', count: true });
    // A column has many rows with a value if it is unique only together with another.
    await recorder.all(
      `SELECT * FROM (SELECT * FROM pets INDEXED BY sqlite_autoindex_pets_1 WHERE id = ? LIMIT 1) AS listed`,
      [1],
    );
    assert.deepEqual(await Promise.all(sent.map(query => explainSqlite(db, query))), [
      [],
      ['SEARCH pets USING INDEX sqlite_autoindex_pets_1 (id=?)'],
    ]);
  });

  it('on PostgreSQL, planned for its values and for any', async t => {
    const { db, url } = await openPostgresStore(t);
    await fillLists(db);
    await withSession(url, async session => {
      await session.query('VACUUM ANALYZE');
      const known = new Set<string>();
      await assertBounded(db, sent => faultsOfPlans(session, sent, known));
    });
  });
});
