import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { searchPets } from '../../src/catalog/pets/search/search-pets.ts';
import type { Queries } from '../../src/db/database.ts';
import { insertRows } from '../../src/db/insert-rows.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

/** Stores pets as a version without search does, and then lets the sweep store their words. */
async function fill({ api, app }: TestApp, names: readonly string[]): Promise<void> {
  const categoryId = await aCategory(api);
  const rows = names.map(name => [name, name, categoryId, 'available', 1]);
  await app.db.write(async tx =>
    insertRows(tx, 'pets (name, name_key, category_id, status, quantity)', rows),
  );
  await app.sweeper.run();
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
    await shop.app.db.write(async tx => {
      insertRows(tx, 'categories (id, name, name_key)', [[1_000, 'Dogs', 'dogs']]);
      // Their first word is found by the name, and so needs no sweep.
      const rows = names.map(name => [name, name, 1_000, 'available', 1]);
      insertRows(tx, 'pets (name, name_key, category_id, status, quantity)', rows);
    });
    const totalOf = async () => {
      const { headers } = await shop.api.get('/pets?q=rex&limit=1&count=true');
      return [headers['x-total-count'], headers['x-total-count-relation']];
    };
    assert.deepEqual(await totalOf(), ['10000', undefined]);
    await aPet(shop.api, { name: 'Max Rex', categoryId: 1_000 });
    assert.deepEqual(await totalOf(), ['10000', 'gte']);
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
    assert.deepEqual(
      body.map((pet: { name: string }) => pet.name),
      [...longer, ...[...twoErrors, 'labradart'].sort(), 'labradozt'],
    );
  });
});

describe('a search with two typing errors', () => {
  it('finds words that are two letters shorter', async t => {
    const shop = await startTestApp(t);
    await fill(shop, ['goldens']);
    for (const q of ['xygoldens', 'gxyoldens', 'goldensxy', 'xgoldensy'])
      assert.equal((await shop.api.get(`/pets?q=${q}`)).body.length, 1, q);
  });
});

describe('a search while a pet gets another name', () => {
  it('does not return the pet at the place of its old name', async t => {
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
      run: (...query) => db.run(...query),
      all: async (sql, values, plan) => {
        const isLast = sql.startsWith('SELECT id, name, ');
        if (isLast && renames++ === 0)
          assert.equal((await shop.api.patch(`/pets/${id}`, { name: 'Max' })).status, 200);
        return db.all(sql, values, plan);
      },
    };
    const { items } = await searchPets(renaming, { q: 'rex' });
    assert.equal(renames, 1);
    assert.deepEqual(
      items.map(({ name }) => name),
      ['a rex', 'c rex'],
    );
  });
});

describe('the words of a pet', () => {
  it('are all removed when it is changed or deleted after an earlier version has renamed it', async t => {
    const shop = await startTestApp(t);
    const { api, app } = shop;
    await fill(shop, ['a shadow', 'b shadow']);
    const pets = await app.db.all<{ id: number }>('SELECT id FROM pets ORDER BY id');
    for (const { id } of pets)
      await app.db.run("UPDATE pets SET name = 'c golden', name_key = 'c golden' WHERE id = ?", [id]);
    const [changed, deleted] = pets.map(({ id }) => `/pets/${id}`);
    assert.equal((await api.patch(changed!, { name: 'd golden' })).status, 200);
    assert.equal((await api.delete(deleted!)).status, 204);
    assert.deepEqual(await app.db.all('SELECT word, name_key FROM pet_words'), [
      { word: 'golden', name_key: 'd golden' },
    ]);
    assert.deepEqual(await app.db.all('SELECT * FROM deleted_names'), [], 'nothing is left for the sweep');
  });

  it('are all removed by the next sweep when an earlier version has deleted more pets than a slice has', async t => {
    const shop = await startTestApp(t);
    const { app } = shop;
    await fill(
      shop,
      Array.from({ length: 250 }, (_, i) => `${i} shadow`),
    );
    await app.db.run('DELETE FROM pets');
    await app.sweeper.run();
    assert.deepEqual(await app.db.all('SELECT * FROM pet_words'), []);
    assert.deepEqual(await app.db.all('SELECT * FROM deleted_names'), []);
  });

  it('are stored when a pet from before search is changed, even if its name remains', async t => {
    const shop = await startTestApp(t);
    const { api, app } = shop;
    await fill(shop, ['a shadow']);
    await app.db.run('DELETE FROM pet_words');
    await app.db.run('UPDATE pets SET indexed_name = NULL');
    const [{ id }] = (await app.db.all('SELECT id FROM pets')) as [{ id: number }];
    assert.equal((await api.patch(`/pets/${id}`, { status: 'pending' })).status, 200);
    assert.equal((await api.get('/pets?q=shadow')).body.length, 1);
  });
});
