import assert from 'node:assert/strict';
import { it } from 'node:test';
import { aCategory, aPet } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { useShop } from '../support/use-shop.ts';

const shop = useShop();

// rules/shop.test.ts compares all operations on pets with a model of their rules.
it('PATCH of a pet changes only the fields it names, in either media type', async () => {
  const { api } = shop;
  const id = await aPet(api, { name: 'Rex', status: 'pending' });
  const { body: pet } = await api.patch(`/pets/${id}`, {});
  assert.deepEqual([pet.name, pet.status], ['Rex', 'pending']);
  const json = { 'content-type': 'application/json' };
  assert.deepEqual((await api.patch(`/pets/${id}`, { name: 'Max' }, json)).body, { ...pet, name: 'Max' });
  const released = await api.patch(`/pets/${id}`, { status: 'available' });
  assert.deepEqual(released.body, { ...pet, name: 'Max', status: 'available' });
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
] as const;

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
