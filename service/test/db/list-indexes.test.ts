import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Pet, petTable } from '../../src/catalog/pets/pet.ts';
import { petList } from '../../src/catalog/pets/pet-queries.ts';
import { text } from '../../src/db/columns.ts';
import type { Database, Row, Value } from '../../src/db/database.ts';
import { defineList } from '../../src/db/define-list.ts';
import { indexesOf } from '../../src/db/indexes.ts';
import { is, type List, type ListDeclaration, unique } from '../../src/db/list.ts';
import { selectionOf, selectPage } from '../../src/db/select-page.ts';
import { InvalidListing } from '../../src/kit/paging.ts';
import { engines, type OpenStore } from '../support/engines.ts';
import { fillLists } from '../support/full-lists.ts';
import { recorded, type Sent } from '../support/query-plans.ts';

/** All lists of the service, by the names of their constants. */
const lists: Record<string, List> = {};
const source = join(import.meta.dirname, '../../src');
for (const file of globSync('**/*.ts', { cwd: source, exclude: ['**/*.test.ts'] })) {
  const names = readFileSync(join(source, file), 'utf8').matchAll(/^export const (\w+) = defineList\(/gm);
  for (const [, name] of names) lists[name!] = (await import(join(source, file)))[name!];
}

describe('the lists of the shop', () => {
  const combined: Record<string, readonly string[]> = {
    petList: ['id', 'status', 'categoryId', 'name'],
    categoryList: ['name'],
    orderList: ['petId', 'complete', 'shipDateFrom', 'shipDateTo'],
    stockList: ['petId', 'status', 'categoryId', 'quantityBelow'],
    keyList: ['name', 'plan', 'revoked'],
    deliveryList: ['status'],
  };

  for (const [name, filters] of Object.entries(combined)) {
    it(`${name} serves every set of ${filters.join(', ')}`, () => {
      const sets = [...lists[name]!.served.keys()].filter(set =>
        set.split(',').every(one => one === '' || filters.includes(one)),
      );
      assert.equal(sets.length, 2 ** filters.length);
    });
  }

  it('serve a search with every set of filters that an index has in the order of names', () => {
    const searches = [...petList.served].filter(([set]) => set.split(',').includes('q'));
    assert.deepEqual(searches, [
      ['q', []],
      ['q,status', []],
      ['q,categoryId', []],
      ['q,status,categoryId', []],
    ]);
  });

  it('merge pages from all values that the store allows in a column', async t => {
    const { db } = await engines.SQLite!(t);
    let checked = 0;
    for (const { table, among } of Object.values(lists)) {
      const [schema] = await db.all<Row>('SELECT sql FROM sqlite_schema WHERE name = ?', [table.name]);
      for (const [column, values] of among) {
        // A generated column: CASE WHEN … THEN 0 ELSE 1 END.
        if (column === 'revoked') continue;
        const [, allowed] = new RegExp(`CHECK \\(${column} IN \\(([^)]+)\\)`).exec(String(schema!.sql))!;
        const all = allowed!.split(', ').map(value => JSON.parse(value.replaceAll("'", '"')));
        assert.deepEqual(values.toSorted(), all.sort(), `${table.name}.${column}`);
        checked++;
      }
    }
    assert.equal(checked, 6);
  });
});

for (const [engine, open] of Object.entries(engines)) {
  it(`the indexes that the migrations create on ${engine} are those of the store`, async t => {
    const { db } = await open(t);
    for (const { table } of Object.values(lists)) {
      const created = indexesOf(table.name).filter(({ name }) => name !== undefined);
      const stored = await db.all<{ name: string; sql: string }>(
        engine === 'SQLite'
          ? "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = ?"
          : `SELECT indexname AS name, indexdef AS sql FROM pg_indexes
               WHERE tablename = ? AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conname = indexname)`,
        [table.name],
      );
      assert.deepEqual(created.map(({ name }) => name).sort(), stored.map(({ name }) => name).sort());
      for (const { name, columns, isUnique } of created) {
        const { sql } = stored.find(index => index.name === name)!;
        const [, list] = /\((.*?)\)\s*(?:WHERE|$)/s.exec(sql)!;
        const names = list!.split(', ').map(column => /\w+/.exec(column)![0]);
        assert.deepEqual(columns.slice(0, names.length), names, sql);
        assert.equal(sql.startsWith('CREATE UNIQUE'), isUnique);
      }
    }
  });

  describe(`a new filter of pets with one index, on ${engine}`, () => {
    it('serves what the index serves, and rejects the rest before it reads', async t => {
      const filters = { chip: is(text('chip'), { type: 'string' }) };
      const { db, list } = await openWith(t, open, filters, 'CREATE INDEX', 'chip, (id - 99)');
      assert.deepEqual(await readAll(db, list), [
        ['chip', 'id'],
        ['chip', '-id'],
        ['id,chip', 'id'],
        ['id,chip', '-id'],
        ['id,chip', 'name'],
        ['id,chip', '-name'],
      ]);
    });

    it('combines with everything when the index is unique', async t => {
      const filters = { chip: unique(text('chip'), { type: 'string' }) };
      const { db, list } = await openWith(t, open, filters, 'CREATE UNIQUE INDEX', 'chip');
      const served = await readAll(db, list);
      assert.equal(new Set(served.map(([set]) => set)).size, 16, 'all sets of the four other filters');
      for (const none of [{ status: ['sold'] }, { categoryId: 99 }, { name: 'zz' }, { id: [8] }] as const)
        assert.deepEqual((await selectPage(db, list, { chip: 'chip 7', ...none })).items, []);
      const { items, total } = await selectPage(db, list, { chip: 'chip 7', id: [7, 8], count: true });
      assert.deepEqual([items.map(({ id }) => id), total], [[7], 1]);
      assert.equal((await selectPage(db, list, { chip: 'none', count: true })).total, 0);
    });
  });
}

/** The list of pets with more filters, in a store that has the column and one index by it. */
async function openWith<const F extends ListDeclaration<'id'>['filters']>(
  t: TestContext,
  open: (t: TestContext) => Promise<OpenStore>,
  filters: F,
  create: string,
  postgresColumns: string,
) {
  const { db } = await open(t);
  await fillLists(db, { pets: 300, others: 10 });
  await db.run('ALTER TABLE pets ADD COLUMN chip TEXT');
  await db.run("UPDATE pets SET chip = 'chip ' || id WHERE id < 200");
  const sqlite = `${create} pets_by_chip ON pets (chip);`;
  const postgres = `${create} pets_by_chip ON pets (${postgresColumns});`;
  await db.run(db.engine === 'sqlite' ? sqlite : postgres);
  const added = indexesOf('pets', { sqlite, postgres }).filter(({ name }) => name !== undefined);
  const { declaration } = petList;
  const more = { ...declaration, filters: { ...declaration.filters, ...filters } };
  return { db, list: defineList(petTable, more, [...indexesOf('pets'), ...added]) };
}

const values: Record<string, unknown> = {
  id: [6, 7, 9],
  status: ['available'],
  categoryId: 1,
  name: 'a',
  chip: 'chip 7',
};

/**
 * Reads the list with every set of filters and every sort: finds the one pet that has all of the values, or is rejected before any
 * statement. Returns the combinations with the chip that are served.
 */
async function readAll(db: Database, list: List<Pet>): Promise<[set: string, sort: string][]> {
  let sent: Sent[] = [];
  const recorder = recorded(db, query => void sent.push(query));
  const served: [set: string, sort: string][] = [];
  const sets = Object.keys(values).reduce<string[][]>(
    (sets, name) => sets.concat(sets.map(set => [...set, name])),
    [[]],
  );
  for (const set of sets.filter(set => set.includes('chip'))) {
    for (const sort of ['id', '-id', 'name', '-name']) {
      const query = Object.fromEntries(set.map(name => [name, values[name]]));
      sent = [];
      try {
        const { items, total } = await selectPage(recorder, list, { ...query, sort, count: true } as object);
        assert.deepEqual([items.map(({ id }) => id), total], [[7], 1], `${set} ${sort}`);
        const index = set.includes('id') ? /Index|PRIMARY KEY/ : /pets_by_chip/;
        for (const { sql, values } of sent) assert.match(await planOf(db, sql, values), index);
        served.push([set.join(), sort]);
      } catch (error) {
        assert.ok(error instanceof InvalidListing, `${set} ${sort}: ${error}`);
        assert.deepEqual(sent, []);
      }
    }
  }
  await assert.rejects(
    async () => selectionOf(list, { q: 'a', chip: 'chip 7' }),
    /^Error: Query parameters `q` and `chip` cannot be combined/,
  );
  return served;
}

/** The plan of a statement, as text. It scans no table unless it has to, because a planner would scan one with few rows. */
async function planOf(db: Database, sql: string, values: readonly Value[] = []): Promise<string> {
  const explain = db.engine === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
  const rows = await db.all<Row>(`${explain} ${sql}`, values, 'index order');
  const plan = rows.map(row => row.detail ?? row['QUERY PLAN']).join('\n');
  assert.doesNotMatch(plan, /Seq Scan|SCAN pets|pets_by_(?!chip)/);
  return plan;
}
