import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from '../support/client.ts';
import { aCategory } from '../support/factories.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { onPostgres } from '../support/test-store.ts';

async function namesFor(api: Client, q: string): Promise<string[]> {
  const { body } = await api.get(`/pets?q=${q}`);
  return body.map(({ name }: { name: string }) => name);
}

/** Returns the words with the IDs of their pets. */
function storedWords({ app }: Pick<TestApp, 'app'>): Promise<unknown[]> {
  return app.db.all('SELECT word, pet_id AS id FROM pet_words ORDER BY word, pet_id');
}

describe('a search after a batch', () => {
  it('finds created and renamed pets by their last names, and no deleted ones', async t => {
    const shop = await startTestApp(t);
    const { api } = shop;
    const categoryId = await aCategory(api);
    const create = (name: string, label: string) => ({
      method: 'POST',
      path: '/pets',
      body: { name, categoryId },
      label,
    });
    const operations = [
      create('Little Amber Rose', 'a'),
      create('Little Bruno Rose', 'b'),
      create('Little Coral Rose', 'c'),
      { method: 'PATCH', path: '/pets/{b}', body: { name: 'Little Basil Thorn' } },
      { method: 'PATCH', path: '/pets/{b}', body: { name: 'Little Birch Rose' } },
      { method: 'DELETE', path: '/pets/{c}' },
    ];
    const { status, body } = await api.post('/batch', { operations });
    assert.equal(status, 200);
    assert.deepEqual(await namesFor(api, 'rose'), ['Little Amber Rose', 'Little Birch Rose']);
    assert.deepEqual(await namesFor(api, 'birtch'), ['Little Birch Rose'], 'with a typing error');
    for (const q of ['bruno', 'thorn', 'coral']) assert.deepEqual(await namesFor(api, q), []);
    const [a, b] = [body.results[0].body.id, body.results[1].body.id];
    assert.deepEqual(await storedWords(shop), [
      { word: 'amber', id: a },
      { word: 'birch', id: b },
      { word: 'rose', id: a },
      { word: 'rose', id: b },
    ]);
  });

  it('stores the words of many names after its commit, whether it creates, changes or deletes their pets', async t => {
    const { api, app } = await startTestApp(t);
    const categoryId = await aCategory(api);
    // A long write has room for 600 words on the embedded store, and for 5,000 on PostgreSQL.
    const pets = onPostgres ? 100 : 12;
    const words = Array.from({ length: 60 }, (_, i) => (i + 100).toString(36)).join(' ');
    const pet = (name: string) => ({ name: `${name} ${words}`, categoryId });
    const write = t.mock.method(app.db, 'write');
    const send = async (operations: object[]) => {
      write.mock.resetCalls();
      const { status, body } = await api.post('/batch', { operations });
      assert.equal(status, 200, JSON.stringify(body).slice(0, 300));
      const alone = write.mock.calls.filter(call => call.arguments[1]?.alone);
      assert.ok(alone.length > 1, 'a transaction after the commit');
      return body.results;
    };
    const create = { method: 'POST', path: '/pets', body: pet('Amber') };
    const created = await send(Array.from({ length: pets }, () => create));
    const paths: string[] = created.map(({ location }: { location: string }) => location);
    await send(paths.map(path => ({ method: 'PUT', path, body: pet('Bruno') })));
    await send(paths.map(path => ({ method: 'PATCH', path, body: pet('Coral') })));
    await send(paths.map(path => ({ method: 'DELETE', path })));
  });

  it('that fails finds none of its pets, and their words are not stored', async t => {
    const shop = await startTestApp(t);
    const { api } = shop;
    const categoryId = await aCategory(api);
    const operations = [
      { method: 'POST', path: '/pets', body: { name: 'Little Amber', categoryId }, label: 'a' },
      { method: 'PUT', path: '/store/inventory/{a}', body: { quantity: 3 } },
      { method: 'DELETE', path: '/pets/4000000000' },
    ];
    const failed = await api.post('/batch', { operations });
    assert.equal(failed.status, 404);
    assert.deepEqual(await namesFor(api, 'amber'), []);
    assert.deepEqual(await storedWords(shop), []);
    const { status } = await api.post('/batch', { atomic: false, operations });
    assert.equal(status, 200);
    assert.deepEqual(await namesFor(api, 'ambre'), ['Little Amber'], 'with a typing error');
  });
});
