import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aCategory, anOrder, aPet, stockOf } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { useShop } from '../support/use-shop.ts';

const shop = useShop();

// rules/shop.test.ts compares all operations on pets with a model of their rules.
describe('pets', () => {
  it('a new pet is available with one unit in stock, and Location leads to it', async () => {
    const { api } = shop;
    const categoryId = await aCategory(api);
    const { status, headers, body } = await api.post('/pets', { name: 'Biscuit', categoryId });
    assert.deepEqual([status, headers.location], [201, `/pets/${body.id}`]);
    assert.deepEqual(body, { id: body.id, name: 'Biscuit', categoryId, status: 'available' });
    assert.deepEqual((await api.get(headers.location!)).body, body);
    assert.deepEqual(await stockOf(api, body.id), ['available', 1]);
  });

  it('PATCH changes only the fields it names, in either media type', async () => {
    const { api } = shop;
    const id = await aPet(api, { name: 'Rex', status: 'pending' });
    const { body: pet } = await api.patch(`/pets/${id}`, {});
    assert.deepEqual([pet.name, pet.status], ['Rex', 'pending']);
    const json = { 'content-type': 'application/json' };
    assert.deepEqual((await api.patch(`/pets/${id}`, { name: 'Max' }, json)).body, { ...pet, name: 'Max' });
    const released = await api.patch(`/pets/${id}`, { status: 'available' });
    assert.deepEqual(released.body, { ...pet, name: 'Max', status: 'available' });
  });

  it('completed orders keep the ID of a deleted pet', async () => {
    const { api } = shop;
    const petId = await aPet(api);
    const orderId = await anOrder(api, { petId, complete: true });

    const deleted = await api.delete(`/pets/${petId}`);
    assert.deepEqual([deleted.status, deleted.text], [204, '']);
    const { body } = await api.get(`/store/orders/${orderId}`);
    assert.equal(body.petId, petId);
    assert.deepEqual((await api.get(`/store/orders?petId=${petId}`)).body, [body]);
    const corrected = await api.patch(`/store/orders/${orderId}`, { shipDate: '2026-11-20T08:00:00Z' });
    assert.deepEqual(corrected.body, { ...body, shipDate: '2026-11-20T08:00:00.000Z' });
  });

  it('the ID of a deleted pet is never used again', async () => {
    const { api } = shop;
    const newest = await aPet(api);
    await api.delete(`/pets/${newest}`);
    assert.equal(await aPet(api), newest + 1);
  });
});

/** Different spellings of one name in several languages. */
const SAME_NAMES = [
  ['Dogs', 'DOGS'],
  ['Äffchen', 'äFFCHEN'],
  ['Strauße', 'STRAUSSE'],
  ['Ёжики', 'ёЖИКИ'],
  ['ΚΟΚΟΡΑΣ', 'κοκορας'],
  ['ΚΟΚΟΡΑΣ', 'κοκορασ'],
  ['Lémuriens', 'Le\u0301muriens'],
  ['ΡΟΪ\u0301ΔΙ', 'ροΐδι'],
] as const;

describe('categories', () => {
  it('a new category is returned with 201, and Location leads to it', async () => {
    const sent = { name: ' Wolves ', description: ' Puppies\nand grown wolves ' };
    const { status, headers, body } = await shop.api.post('/categories', sent);
    assert.deepEqual([status, headers.location], [201, `/categories/${body.id}`]);
    assert.deepEqual(body, { id: body.id, name: 'Wolves', description: 'Puppies\nand grown wolves' });
    assert.deepEqual((await shop.api.get(headers.location!)).body, body);
  });

  it('two categories cannot share a name, however it is spelled', async () => {
    const { api } = shop;
    const other = await aCategory(api);
    for (const [name, sameName] of SAME_NAMES) {
      const id = await aCategory(api, { name });
      const body = { name: sameName };
      assertRejected(await api.post('/categories', body), 409, 'category_name_taken');
      assertRejected(await api.put(`/categories/${other}`, body), 409, 'category_name_taken');
      assertRejected(await api.patch(`/categories/${other}`, body), 409, 'category_name_taken');
      assert.equal((await api.patch(`/categories/${id}`, body)).body.name, sameName, 'its own name');
      assert.equal((await api.delete(`/categories/${id}`)).status, 204);
    }
    for (const name of ['Dogs', 'Dog', 'Döğs', 'Ilık', 'Ilik']) await aCategory(api, { name });
  });
});
