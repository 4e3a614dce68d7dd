import assert from 'node:assert/strict';
import type { Client } from './client.ts';

const LISTS = ['/categories', '/pets', '/store/inventory', '/store/orders'];

/** Everything the shop holds, for small shops: a rejected change must leave it as it was. */
export async function shopState(api: Client): Promise<Record<string, unknown[]>> {
  const state: Record<string, unknown[]> = {};
  for (const path of LISTS) {
    const { body, headers } = await api.get(`${path}?limit=100`);
    assert.equal(headers.link, undefined, `${path} has more rows than one page`);
    state[path] = body;
  }
  return state;
}
