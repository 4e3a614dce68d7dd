import assert from 'node:assert/strict';
import type { ApiResponse, Client } from './client.ts';

/** The IDs of what the scenes of the console open. */
export interface ConsoleShop {
  pet: number;
  category: number;
  order: number;
  key: number;
  webhook: number;
}

const staff = {
  'Front desk': ['pets:read', 'orders:read', 'orders:write', 'inventory:read', 'events:read'],
  Warehouse: ['pets:read', 'inventory:read', 'inventory:write', 'events:read'],
  'Web shop': ['pets:read', 'orders:write'],
};

export async function workInDemoShop(api: Client): Promise<ConsoleShop> {
  const post = (client: Client, path: string, body?: object) => done(client.post(path, body));
  const types = ['order.*'];
  const webhook = await post(api, '/webhooks', { url: 'http://localhost:9000/orders', types });
  const keys: { id: number; key: string }[] = [];
  for (const [name, scopes] of Object.entries(staff))
    keys.push(await post(api, '/keys', { name, plan: 'business', scopes }));
  const [frontDesk, warehouse, webShop] = keys.map(({ key }) => api.as(key)) as [Client, Client, Client];

  const find = async (name: string) => (await done(api.get(`/pets?name=${name}`)))[0];
  const [tetra, rabbit, axolotl] = [await find('Neon'), await find('Hazel'), await find('Axolotl')];
  await post(warehouse, `/store/inventory/${axolotl.id}/adjustments`, { delta: 4 });
  await post(frontDesk, '/store/orders', { petId: rabbit.id, complete: true });
  const order = await post(webShop, '/store/orders', { petId: tetra.id, quantity: 6 });
  await done(frontDesk.patch(`/store/orders/${order.id}`, { quantity: 8 }));
  await post(api, `/webhooks/${webhook.id}/test`);
  return {
    pet: tetra.id,
    category: tetra.categoryId,
    order: order.id,
    key: keys[0]!.id,
    webhook: webhook.id,
  };
}

async function done(response: Promise<ApiResponse>): Promise<ApiResponse['body']> {
  const { status, body } = await response;
  assert.ok(status < 300, JSON.stringify(body));
  return body;
}
