import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { searchPets } from '../../src/catalog/pets/search/search-pets.ts';
import type { Queries } from '../../src/db/database.ts';
import { aCategory } from '../support/factories.ts';
import { pagesOf } from '../support/pages.ts';
import { Random } from '../support/random.ts';
import { searched } from '../support/search-model.ts';
import { storePets } from '../support/stored-pets.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { TurnCounter } from '../support/turn-counter.ts';

const PETS = 6_000;

interface StoredPet {
  id: number;
  name: string;
  status: string;
  category_id: number;
}

/** Names of 1 to 4 words. Every fourth word is `max`, hundreds of words start with `m`, and about twenty with `ra`. */
function someNames(): string[] {
  const random = new Random(16);
  const syllables = ['la', 'ni', 'do', 'xe', 'vu', 'zi'];
  const end = (length: number) => Array.from({ length }, () => random.pick(syllables)).join('');
  const word = () => {
    const kind = random.between(1, 12);
    if (kind <= 3) return 'max';
    if (kind <= 9) return `m${end(3)}`;
    if (kind === 10) return `ra${random.pick(syllables)}${random.pick(['', 'n', 'r', 's'])}`;
    return random.pick(['golden', 'goldne', 'goldens', 'retriever', 'retreivre', 'é']);
  };
  return Array.from({ length: PETS }, (_, i) =>
    i === PETS / 2 ? 'retriever golden zzz' : Array.from({ length: random.between(1, 4) }, word).join(' '),
  );
}

async function manyPets({ api, app }: TestApp): Promise<StoredPet[]> {
  const categories = [await aCategory(api), await aCategory(api)];
  const statuses = ['available', 'sold', 'available', 'pending'];
  const pets = someNames().map((name, i) => ({
    name,
    categoryId: categories[i % 200 === 3 ? 1 : 0]!,
    status: statuses[i % statuses.length]!,
  }));
  await storePets(app.db, pets);
  return app.db.all<StoredPet>('SELECT id, name, status, category_id FROM pets ORDER BY name_key, id');
}

const searches = [
  ...['m', 'ma', 'max', 'max m', 'ra', 'rala max', 'ra m', 'golden retriever', 'goldne', 'goldne retreivre'],
  ...['retriever golden zzz', 'e max', 'max max golden m', 'mlanido', 'xax', 'goldenss retrievers'],
];

/** Queries that call `onRead` before each statement. */
function withHook(db: Queries, onRead: () => void): Queries {
  return {
    engine: db.engine,
    get: (...query) => db.get(...query),
    all: (...query) => {
      onRead();
      return db.all(...query);
    },
  };
}

describe('a search among many pets', () => {
  it('finds what a simple model finds, in the same order, with and without filters', async t => {
    const testApp = await startTestApp(t);
    const pets = await manyPets(testApp);
    const places = new Map(pets.map(({ id }, i) => [id, i]));
    const category = pets.find(({ category_id }) => category_id !== pets[0]!.category_id)!.category_id;
    const filters: [string, (pet: StoredPet) => boolean][] = [
      ['', () => true],
      ['&status=pending', ({ status }) => status === 'pending'],
      [
        `&categoryId=${category}&status=available&status=sold`,
        pet => pet.category_id === category && pet.status !== 'pending',
      ],
    ];
    for (const q of searches) {
      for (const [filter, meets] of filters) {
        const expected = searched(pets.filter(meets), q, ({ id }) => places.get(id)!).map(({ id }) => id);
        const path = `/pets?q=${encodeURIComponent(q)}${filter}&limit=100&count=true`;
        const found: number[] = [];
        for await (const { body, headers } of pagesOf(testApp.api, path)) {
          assert.equal(headers['x-total-count'], String(Math.min(expected.length, 10_000)), path);
          found.push(...body.map((pet: { id: number }) => pet.id));
          if (found.length >= 100) break;
        }
        assert.deepEqual(found, expected.slice(0, Math.max(found.length, 100)), path);
      }
    }
  });

  it('lets other work run between slices, and ends when the client is gone', async t => {
    const testApp = await startTestApp(t);
    await manyPets(testApp);
    const { db } = testApp.app;
    using turns = new TurnCounter();
    const all = new Set<number>();
    const query = { q: 'max m', count: true };
    await searchPets(
      withHook(db, () => all.add(turns.count)),
      query,
    );
    assert.ok(all.size >= 5, `all statements in ${all.size} turns`);

    const left = new AbortController();
    const reason = new Error('the client is gone');
    let sent = 0;
    const leaving = withHook(db, () => {
      if (++sent === 8) left.abort(reason);
    });
    await assert.rejects(searchPets(leaving, query, left.signal), reason);
    assert.ok(sent < 20, `${sent} statements`);
  });
});
