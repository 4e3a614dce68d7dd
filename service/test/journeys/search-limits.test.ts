import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { searchPets } from '../../src/catalog/pets/search/search-pets.ts';
import type { Queries } from '../../src/db/database.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { storePets } from '../support/stored-pets.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { valuesOf } from '../support/values.ts';

async function fill({ api, app }: TestApp, names: readonly string[]): Promise<number> {
  const categoryId = await aCategory(api);
  await storePets(
    app.db,
    names.map(name => ({ name, categoryId })),
  );
  return categoryId;
}

const letters = Array.from('abcdefghijklmnopqrstuvwxyz');

describe('a search with as many matches as a limit', () => {
  it('has no next page when the last match is the last of the page', async t => {
    const shop = await startTestApp(t);
    await fill(shop, ['a rex', 'b rex']);
    const { headers, body } = await shop.api.get('/pets?q=rex&limit=2');
    assert.deepEqual([body.length, headers.link], [2, undefined]);
    assert.match(String((await shop.api.get('/pets?q=rex&limit=1')).headers.link), /rel="next"/);
  });

  it('has an exact total of 10,000, and says that one more are at least as many', async t => {
    const shop = await startTestApp(t);
    const names = Array.from({ length: 10_000 }, (_, i) => `rex ${i}`);
    const categoryId = await fill(shop, names);
    const totalOf = async () => {
      const { headers } = await shop.api.get('/pets?q=rex&limit=1&count=true');
      return [headers['x-total-count'], headers['x-total-count-relation']];
    };
    assert.deepEqual(await totalOf(), ['10000', undefined]);
    await aPet(shop.api, { name: 'Max Rex', categoryId });
    assert.deepEqual(await totalOf(), ['10000', 'gte']);
  });

  it('has an exact total when the names have more words that begin with the text than one statement reads', async t => {
    const shop = await startTestApp(t);
    const words = letters.map(letter => `m${letter}`).join(' ');
    // They have 20,800 stored words, before that of the last name.
    const names = Array.from({ length: 800 }, (_, i) => `${i} ${words}`);
    await fill(shop, [...names, 'a mzz']);
    const { headers } = await shop.api.get('/pets?q=m&limit=1&count=true');
    assert.equal(headers['x-total-count'], '801');
  });

  it('finds the 16 nearest words of the dictionary, in addition to all longer words', async t => {
    const shop = await startTestApp(t);
    // One error is in `labradart` and in `labradozt`, two are in the others, which are before it in the dictionary.
    const near = [...letters.map(letter => `labrada${letter}t`), 'labradozt'];
    const longer = letters.map(letter => `labradort${letter}`);
    await fill(shop, [...near, ...longer]);
    const { status, body } = await shop.api.get('/pets?q=labradort&limit=100');
    assert.equal(status, 200, JSON.stringify(body));
    const twoErrors = near.filter(word => word !== 'labradart' && word !== 'labradozt').slice(0, 14);
    assert.deepEqual(valuesOf(body, 'name'), [...longer, ...[...twoErrors, 'labradart'].sort(), 'labradozt']);
  });
});

it('a search while a pet gets another name does not return the pet at the place of its old name', async t => {
  const shop = await startTestApp(t);
  const { db } = shop.app;
  await fill(shop, ['a rex', 'b rex', 'c rex']);
  const [{ id }] = (await db.all<{ id: number }>("SELECT id FROM pets WHERE name = 'b rex'")) as [
    { id: number },
  ];
  let renames = 0;
  const renaming: Queries = {
    engine: db.engine,
    get: (...query) => db.get(...query),
    all: async (sql, values, plan) => {
      const isLast = sql.startsWith('SELECT id, name, ');
      if (isLast && renames++ === 0)
        assert.equal((await shop.api.patch(`/pets/${id}`, { name: 'Max' })).status, 200);
      return db.all(sql, values, plan);
    },
  };
  const { items } = await searchPets(renaming, { q: 'rex' });
  assert.equal(renames, 1);
  assert.deepEqual(valuesOf(items, 'name'), ['a rex', 'c rex']);
});
