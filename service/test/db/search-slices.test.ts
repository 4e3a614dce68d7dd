import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { searchPets } from '../../src/catalog/pets/search/search-pets.ts';
import { nameCondition } from '../../src/catalog/pets/search/slices.ts';
import type { Database, Queries } from '../../src/db/database.ts';
import { engines } from '../support/engines.ts';
import { recorded, type Sent } from '../support/query-plans.ts';
import { storePets } from '../support/stored-pets.ts';
import { TurnCounter } from '../support/turn-counter.ts';
import { valuesOf } from '../support/values.ts';

/** Each is more than two slices. */
const EACH = 6_000;

/** One word is rare at the start of the names, the other one at their end. */
async function fill(db: Database): Promise<void> {
  const names = Array.from({ length: 2 * EACH }, (_, i) => {
    const common = i < EACH ? `a${i} golden` : `b${i} shadow`;
    return i % 3_000 === 0 ? `${common} ${i < EACH ? 'shadow' : 'golden'}` : common;
  });
  await store(db, names);
}

async function store(db: Database, names: readonly string[]): Promise<void> {
  await db.run("INSERT INTO categories (id, name, name_key) VALUES (1, 'Dogs', 'dogs')");
  await storePets(
    db,
    names.map(name => ({ name, categoryId: 1 })),
  );
}

/** Returns the IDs that a search finds, and how many parts of lists, ends of parts and words with typing errors it reads. */
async function search(db: Database, q: string, limit = 20) {
  const reads = { parts: 0, ends: 0, errors: 0 };
  const counter = recorded(db, ({ sql }) => {
    if (sql.includes('name_key LIKE')) reads.parts++;
    if (sql.endsWith('AS part LIMIT 1 OFFSET ?')) reads.ends++;
    if (sql.includes('word_variants')) reads.errors++;
  });
  const { items } = await searchPets(counter, { q, limit });
  return { ids: items.map(({ id }) => id), ...reads };
}

/** Counts the turns of the event loop between the results of statements that contain some text, and the next statements. */
async function turnsAfter<T>(
  db: Database,
  text: string,
  run: (counter: Queries) => Promise<T>,
): Promise<{ result: T; turns: number }> {
  let turns = 0;
  let isCounting = false;
  const count = (isRead: boolean) => {
    isCounting = isRead;
  };
  const counter = recorded(
    db,
    () => count(false),
    ({ sql }) => count(sql.includes(text)),
  );
  using _all = new TurnCounter(() => {
    if (isCounting) turns++;
  });
  return { result: await run(counter), turns };
}

for (const [engine, openStore] of Object.entries(engines)) {
  describe(`a search, on ${engine}`, () => {
    it('reads in each slice the pets of the word with fewer pets there, and no more than a page needs', async t => {
      const { db } = await openStore(t);
      await fill(db);
      const both = { ids: [1, 3_001, 6_001, 9_001], parts: 2, ends: 4, errors: 2 };
      const cases: [q: string, limit: number, expected: typeof both][] = [
        ['golden shadow', 20, both],
        ['shadow golden', 20, both],
        // Other pets fill the page, so that typing errors do not matter.
        ['golden shadow', 3, { ids: [1, 3_001, 6_001], parts: 2, ends: 4, errors: 0 }],
        // There is nothing to choose.
        ['golde', 2, { ids: [1, 2], parts: 1, ends: 0, errors: 0 }],
        // A word has no pets.
        ['golden 12', 20, { ids: [], parts: 0, ends: 0, errors: 1 }],
      ];
      for (const [q, limit, expected] of cases) assert.deepEqual(await search(db, q, limit), expected, q);
    });

    it('counts the pets of one word without looking at their names, and each pet once', async t => {
      const { db } = await openStore(t);
      const names = [
        'rex',
        'rex rexa',
        'a rex',
        'a rexa rexb',
        'b golden holden',
        'holden',
        'c goldens',
        'max',
      ];
      await store(db, names);
      let compared = 0;
      const counter = recorded(db, ({ sql }) => {
        if (sql.includes('name_key LIKE')) compared++;
      });
      const totals: unknown[] = [];
      for (const q of ['rex', 'golden', 'm', 'x']) {
        const compare = compared;
        await searchPets(counter, { q, limit: 1 });
        const ofPage = compared - compare;
        totals.push((await searchPets(counter, { q, limit: 1, count: true })).total);
        assert.equal(compared, compare + 2 * ofPage, 'only the page itself compares names');
      }
      assert.deepEqual(totals, [4, 3, 1, 0]);
    });

    it('checks a bounded number of characters of names in each turn of the event loop', async t => {
      const { db } = await openStore(t);
      const count = 2_000;
      await store(db, Array(count).fill(`rex ${'\ufdfa'.repeat(196)}`));
      const { result, turns } = await turnsAfter(db, 'name_key LIKE', counter =>
        searchPets(counter, { q: 'rex الله', limit: 1, count: true }),
      );
      assert.equal(result.total, count);
      // 20,000 characters in a turn. The first portion of each slice, of 500 names, needs no further turn.
      assert.ok(turns >= (count * 200) / 20_000 - count / 500, `${turns} turns`);
    });

    it('compares a bounded number of words of the dictionary in each turn of the event loop', async t => {
      const { db } = await openStore(t);
      const start = 'zanzib';
      const letters = [...'abcdefghijklmnop'];
      const ends = letters.flatMap(a => letters.flatMap(b => letters.map(c => a + b + c)));
      const length = 32;
      await store(
        db,
        ends.map(end => `a ${(start + end).padEnd(length, 'x')}`),
      );
      const { turns } = await turnsAfter(db, 'word_variants', counter =>
        searchPets(counter, { q: start.padEnd(length, 'y') }),
      );
      // At most 200,000 pairs of letters in a turn.
      assert.ok(turns >= (4_000 * length * length) / 200_000 - 1, `${turns} turns`);
    });

    it('reads a bounded number of names in a slice, and fewer when it compares them with more words', async t => {
      const { db } = await openStore(t);
      const letters = [...'abcdefghijklmnopqrs'];
      const near = (word: string) => letters.map(letter => word.replace('*', letter));
      const names = ['labra*orian', 'retrie*erish', 'shado*ington'].flatMap(near);
      await store(
        db,
        Array.from({ length: 3_000 }, (_, i) => `a ${names[i % names.length]} ${i}`),
      );
      // The statements of a slice are sent in one turn of the event loop.
      let slice: { sent: number; comparisons: number } | undefined;
      const slices: (typeof slice)[] = [];
      let mostPatterns = 0;
      const patternsOf = ({ values }: Sent) => values.filter(value => String(value).startsWith('%')).length;
      const counter = recorded(
        db,
        sent => {
          const patterns = patternsOf(sent);
          if (patterns === 0) return;
          mostPatterns = Math.max(mostPatterns, patterns);
          if (!slice) {
            slice = { sent: 0, comparisons: 0 };
            slices.push(slice);
            setImmediate(() => {
              slice = undefined;
            });
          }
          slice.sent++;
          slice.comparisons += Number(sent.values.at(-patterns - 2)) * patterns;
        },
        (sent, rows) => assert.ok(patternsOf(sent) === 0 || rows.length <= 500, `${rows.length} names`),
      );
      for (const q of ['labraxorian retriexerish shadoxington', 'a', 'a labra'])
        await searchPets(counter, { q, limit: 100, count: true });
      assert.equal(mostPatterns, 3 * 17);
      // The share of each list is rounded up to a pet.
      for (const { sent, comparisons } of slices.filter(slice => slice !== undefined))
        assert.ok(comparisons <= 32_000 + sent * mostPatterns, `${comparisons} comparisons`);
    });

    it('compares only short names in SQL, and leaves the others to the service', async t => {
      const { db } = await openStore(t);
      const names = [
        'golden rex',
        'golden',
        'golden '.repeat(9).trim(),
        'golden '.repeat(10).trim(),
        'goldén',
      ];
      await store(db, names);
      const [condition, patterns] = nameCondition([{ text: 'rex', near: [] }], false);
      const rows = await db.all<{ id: number }>(
        `SELECT id FROM pets WHERE ${condition} ORDER BY id`,
        patterns,
      );
      assert.deepEqual(valuesOf(rows, 'id'), [1, 4, 5]);
    });

    it('finds a name whose decomposed form is too long by the words at its start', async t => {
      const { db } = await openStore(t);
      const ligature = '\ufdfa';
      await store(db, [`${ligature.repeat(40)} rex`, `${ligature.repeat(60)} rex`]);
      assert.deepEqual((await search(db, 'rex')).ids, [1]);
      assert.deepEqual((await search(db, 'الله')).ids, [1, 2]);
    });
  });
}
