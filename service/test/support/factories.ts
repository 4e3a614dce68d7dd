import assert from 'node:assert/strict';
import type { Client } from './client.ts';

let sequence = 0;

/** Creates a category with a unique name and returns its ID. */
export async function aCategory(api: Client, fields: object = {}): Promise<number> {
  const { status, body } = await api.post('/categories', { name: `Category ${++sequence}`, ...fields });
  assert.equal(status, 201, JSON.stringify(body));
  return body.id;
}

/** Creates a pet with `stock` units, in a new category unless one is given. Returns its ID. */
export async function aPet(
  api: Client,
  { stock = 1, ...fields }: { stock?: number; [field: string]: unknown } = {},
): Promise<number> {
  const categoryId = fields.categoryId ?? (await aCategory(api));
  const { status, body } = await api.post('/pets', { name: `Pet ${++sequence}`, categoryId, ...fields });
  assert.equal(status, 201, JSON.stringify(body));
  if (stock !== 1) {
    const set = await api.put(`/store/inventory/${body.id}`, { quantity: stock });
    assert.equal(set.status, 200, JSON.stringify(set.body));
  }
  return body.id;
}

/** Creates a pet of the category with each name, all in one batch. Returns their IDs. */
export async function petsIn(api: Client, categoryId: number, names: readonly string[]): Promise<number[]> {
  const operations = names.map(name => ({ method: 'POST', path: '/pets', body: { name, categoryId } }));
  const { status, body } = await api.post('/batch', { operations });
  assert.equal(status, 200, JSON.stringify(body));
  return body.results.map((result: { body: { id: number } }) => result.body.id);
}

/** Names of so many new words that a batch with them leaves some for after its commit. */
export const namesOfNewWords = Array.from({ length: 60 }, (_, i) =>
  Array.from({ length: 14 }, (_, j) => `unheard${String.fromCharCode(97 + j)}${i}`).join(' '),
);

export async function anOrder(api: Client, fields: object): Promise<number> {
  const { status, body } = await api.post('/store/orders', fields);
  assert.equal(status, 201, JSON.stringify(body));
  return body.id;
}

/** The stock of a pet, as [status, quantity]. */
export async function stockOf(api: Client, petId: number): Promise<[status: string, quantity: number]> {
  const { body } = await api.get(`/store/inventory/${petId}`);
  return [body.status, body.quantity];
}
