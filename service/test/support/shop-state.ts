import assert from 'node:assert/strict';
import type { Client } from './client.ts';

const LISTS = ['/categories', '/pets', '/store/inventory', '/store/orders'];

/** All resources of a small shop. A rejected change must leave them unchanged. */
export async function shopState(api: Client): Promise<Record<string, unknown[]>> {
  const state: Record<string, unknown[]> = {};
  for (const path of LISTS) {
    const { body, headers } = await api.get(`${path}?limit=100`);
    assert.equal(headers.link, undefined, `${path} has more rows than one page`);
    state[path] = body;
  }
  return state;
}
