import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aPet, stockOf } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

const key = { 'idempotency-key': 'import-1' };

describe('an Idempotency-Key of a batch', () => {
  it('makes the whole batch repeatable: it is done once, and a replay has the same results', async t => {
    const { api } = await startTestApp(t);
    const batch = {
      operations: [
        { method: 'POST', path: '/categories', body: { name: ' Cats ' }, label: 'cats' },
        { method: 'POST', path: '/pets', body: { name: ' Tom ', categoryId: { $id: 'cats' } }, label: 'tom' },
        { method: 'POST', path: '/store/inventory/{tom}/adjustments', body: { delta: 4 } },
      ],
    };
    const first = await api.post('/batch', batch, key);
    const replay = await api.post('/batch', batch, key);
    assert.equal(first.status, 200, first.text);
    assert.deepEqual([replay.status, replay.headers['idempotency-replayed']], [200, 'true']);
    assert.deepEqual(replay.body, first.body);
    assert.deepEqual(await stockOf(api, first.body.results[1].body.id), ['available', 5]);
    assert.equal((await api.get('/pets')).body.length, 1);
  });

  it('covers the labels: another label is another request', async t => {
    const { api } = await startTestApp(t);
    const [a, b] = ['a', 'b'].map(label => ({
      operations: [
        { method: 'POST', path: '/categories', body: { name: 'Cats' }, label: 'a' },
        { method: 'POST', path: '/categories', body: { name: 'Dogs' }, label: 'b' },
        { method: 'POST', path: '/pets', body: { name: 'Tom', categoryId: { $id: label } } },
      ],
    }));
    assert.equal((await api.post('/batch', a, key)).status, 200);
    assertRejected(await api.post('/batch', b, key), 422, 'idempotency_key_reused');
    assert.equal((await api.post('/batch', a, key)).headers['idempotency-replayed'], 'true');
  });

  it('stores no failure of an atomic batch, and the results of another with their errors', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { stock: 2 });
    const operations = [{ method: 'POST', path: '/store/orders', body: { petId, quantity: 3 } }];
    assertRejected(await api.post('/batch', { operations }, key), 409, 'insufficient_stock');
    await api.put(`/store/inventory/${petId}`, { quantity: 4 });
    const placed = await api.post('/batch', { operations }, key);
    assert.deepEqual([placed.status, placed.headers['idempotency-replayed']], [200, undefined]);
    const each = { atomic: false, operations };
    const other = { 'idempotency-key': 'import-2' };
    const failed = await api.post('/batch', each, other);
    assert.equal(failed.body.results[0].error.code, 'insufficient_stock');
    await api.put(`/store/inventory/${petId}`, { quantity: 9 });
    const replay = await api.post('/batch', each, other);
    assert.equal(replay.headers['idempotency-replayed'], 'true');
    assert.deepEqual(replay.body, failed.body);
  });
});
