import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SearchQuery, searchPets } from '../../src/catalog/pets/search/search-pets.ts';
import type { Database } from '../../src/db/database.ts';
import { engines, openPostgresStore } from '../support/engines.ts';
import { explain, type PlanNode, planModes, recorded, type Sent } from '../support/query-plans.ts';
import { storePets } from '../support/stored-pets.ts';
import { withSession } from '../support/test-store.ts';

const PETS = 20_000;

/** The most rows that a statement reads in one slice, and the most that it sorts. */
const MAX_READ = 16_000 + 100;

/** Half of the pets have two common words, others have many words with the same start. */
async function fill(db: Database): Promise<void> {
  await db.run("INSERT INTO categories (id, name, name_key) VALUES (1, 'Dogs', 'dogs'), (2, 'Cats', 'cats')");
  const pets = Array.from({ length: PETS }, (_, i) => {
    const name =
      i % 2 === 0 ? `a${i} golden shadow` : i % 200 === 1 ? `b${i} rare${i % 100}` : `c${i} word${i}`;
    const status = i % 100 === 50 ? 'pending' : 'available';
    return { name, categoryId: i % 1_000 === 0 ? 2 : 1, status };
  });
  await storePets(db, pets);
}

const searches: SearchQuery[] = [
  ...[
    'g',
    'golden',
    'golden shadow',
    'goldne shadwo',
    'rare',
    'word',
    'word shadow',
    'golden word1 rare',
  ].map(q => ({ q })),
  { q: 'golden shadow', status: ['pending'] },
  { q: 'g', categoryId: 2 },
  { q: 'word', categoryId: 2, status: ['pending', 'sold'] },
];

/** Every statement of first and second pages, once. */
async function statementsOf(db: Database): Promise<Sent[]> {
  const sent = new Map<string, Sent>();
  // The first values of a text are those of the first slice.
  const recorder = recorded(db, query => void sent.set(`${query.sql} ${query.values.at(-1)}`, query));
  for (const query of searches) {
    const { next } = await searchPets(recorder, { ...query, limit: 5, count: true });
    if (next !== undefined) await searchPets(recorder, { ...query, limit: 5, cursor: next });
  }
  return [...sent.values()];
}

describe('every statement of a search reads a bounded number of rows', () => {
  it('on SQLite', async t => {
    const { db } = await engines.SQLite!(t);
    await fill(db);
    const sent = await statementsOf(db);
    assert.ok(sent.length > 20);
    for (const { sql, values } of sent) {
      const steps = await db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values);
      const reads = steps.filter(({ detail }) => /\b(pets|pet_words|words|word_variants)\b/.test(detail));
      for (const { detail } of reads) {
        assert.match(
          detail,
          /^SEARCH (pets USING .*\((status=\?|category_id=\?|rowid=\?)|pet_words USING PRIMARY KEY \(word[=>]\?|word_variants USING PRIMARY KEY \(variant=\?)/,
          sql,
        );
      }
      // Only few pets with many different words are sorted.
      const isSorted =
        reads.length > 0 && steps.some(({ detail }) => /TEMP B-TREE FOR DISTINCT/.test(detail));
      assert.ok(!isSorted || sql.includes('SELECT DISTINCT'), sql);
    }
  });

  it('on PostgreSQL, planned for its values and for any', async t => {
    const { db, url } = await openPostgresStore(t);
    await fill(db);
    await withSession(url, async session => {
      await session.query('VACUUM ANALYZE');
      for (const sent of await statementsOf(db))
        for (const mode of planModes)
          assert.deepEqual(faultsOf(await explain(session, sent, mode)), [], `${mode}: ${sent.sql}`);
    });
  });
});

/** Finds the nodes that scan a table or read too many rows. */
function faultsOf(node: PlanNode): string[] {
  const { 'Node Type': type, 'Relation Name': table, Plans: inner = [] } = node;
  const rows = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  const own = table && (type === 'Seq Scan' || rows > MAX_READ) ? [`${type} of ${table}: ${rows} rows`] : [];
  return [...own, ...inner.flatMap(faultsOf)];
}
