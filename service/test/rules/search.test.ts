import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { PetStatus, type Pet as StoredPet } from '../../src/catalog/pets/pet.ts';
import { NAME } from '../../src/contract/display-text.ts';
import { aCategory } from '../support/factories.ts';
import { pagesOf } from '../support/pages.ts';
import { type Named, searched } from '../support/search-model.ts';
import { startTestApp } from '../support/test-app.ts';
import { onPostgres } from '../support/test-store.ts';

type Pet = StoredPet & Named;

/** Words with common starts, with errors of each kind between them, and of several scripts. */
const words =
  `a al Alf gold Golden goldn Goldenes glodens holden Retriever retriver retreivre retrievers éclair ECLAIR eclairs e\u0301cl
  Straße STRASSE strass smørrebrød smorebrod Łódź Σίσυφος ΣΊΣΥΦΟΣ ёжик Ежика 東京 東 007 0071 12345 12346 x1234 ﬁnn finn \u{1d4d0}lpha
  ${'a'.repeat(33)} ${'a'.repeat(32)} zanzibari zanzibra anzibari zazibaari O’Malley of Guðmundsdóttir Gudmundsdottir Þór thorn æther aether
  🐹 🐹🐶 👩‍⚕️ 🇩🇪 ❤️ ★`.split(/\s+/);

const separators = [' ', ' ', ' ', '-', ', ', '  ', '/', '.', '_'];

const anyWord = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...words) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }) },
);

const anyText = (maxLength: number) =>
  fc.array(fc.tuple(fc.constantFrom(...separators), anyWord), { minLength: 1, maxLength }).map(parts =>
    parts
      .map(([separator, word]) => separator + word)
      .join('')
      .trim(),
  );

const anyName = anyText(4).filter(
  name => /^[^\p{C}\s]([^\p{C}\p{Zl}\p{Zp}]*[^\p{C}\s])?$/u.test(name) && name.length < 200,
);

/** What a query may contain: some of all characters, such as U+2029, are rejected. */
const isSearchable = new RegExp(NAME, 'u');

const anyQuery = fc
  .tuple(anyText(3), fc.integer({ min: 0, max: 3 }))
  .map(([text, missing]) => text.slice(0, text.length - missing))
  .filter(text => isSearchable.test(text) && text.isWellFormed() && text.length <= 200);

const anyStatus = fc.constantFrom<Pet['status']>(...PetStatus.enum);

type Change =
  | { kind: 'create'; name: string; status: string; category: number }
  | { kind: 'rename' | 'delete'; which: number; name: string };

const created = fc.record({
  kind: fc.constant('create' as const),
  name: anyName,
  status: anyStatus,
  category: fc.nat(1),
});
const changed = (kind: 'rename' | 'delete') =>
  fc.record({ kind: fc.constant(kind), which: fc.nat(), name: anyName });

const anyChange: fc.Arbitrary<Change> = fc.oneof(
  { weight: 5, arbitrary: created },
  { weight: 2, arbitrary: changed('rename') },
  { weight: 1, arbitrary: changed('delete') },
);

const anySearch = fc.record({
  q: anyQuery,
  limit: fc.integer({ min: 1, max: 7 }),
  statuses: fc.uniqueArray(anyStatus, { maxLength: 2 }),
  category: fc.option(fc.nat(1), { nil: undefined }),
});

it('a search finds the pets that a simple model finds, in the same order, after every change', async t => {
  const { api } = await startTestApp(t);
  const categories = [await aCategory(api), await aCategory(api)];
  const pets: Pet[] = [];
  const apply = async (change: Change) => {
    if (change.kind === 'create') {
      const { name, status, category } = change;
      const { body, text } = await api.post('/pets', { name, status, categoryId: categories[category] });
      assert.equal(typeof body.id, 'number', text);
      pets.push(body);
      return;
    }
    if (pets.length === 0) return;
    const at = change.which % pets.length;
    const path = `/pets/${pets[at]!.id}`;
    if (change.kind === 'delete') {
      assert.equal((await api.delete(path)).status, 204);
      pets.splice(at, 1);
    } else {
      pets[at] = (await api.patch(path, { name: change.name })).body;
    }
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyChange, { minLength: 1, maxLength: 4 }),
      fc.array(anySearch, { minLength: 1, maxLength: 4 }),
      async (changes, searches) => {
        for (const change of changes) await apply(change);
        // In the order of the service, from a list whose order other tests prove.
        const listed = await Array.fromAsync(pagesOf(api, '/pets?sort=name&limit=100'));
        const inOrder: Pet[] = listed.flatMap(({ body }) => body);
        const places = new Map(inOrder.map(({ id }, i) => [id, i]));
        for (const { q, limit, statuses, category } of searches) {
          const filtered = pets.filter(
            pet =>
              (statuses.length === 0 || statuses.includes(pet.status)) &&
              (category === undefined || pet.categoryId === categories[category]),
          );
          const parameters = new URLSearchParams({ q, limit: `${limit}`, count: 'true' });
          for (const status of statuses) parameters.append('status', status);
          if (category !== undefined) parameters.set('categoryId', `${categories[category]}`);
          const pages = await Array.fromAsync(pagesOf(api, `/pets?${parameters}`));
          const expected = searched(filtered, q, ({ id }) => places.get(id)!);
          const found = pages.flatMap(({ body }) => body);
          assert.deepEqual(found, expected, JSON.stringify(q));
          for (const page of pages) assert.equal(page.headers['x-total-count'], `${expected.length}`);
        }
      },
    ),
    { numRuns: onPostgres ? 20 : 60, endOnFailure: true },
  );
});
