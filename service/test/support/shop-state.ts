import type { Client } from './client.ts';
import { itemsOf } from './pages.ts';

const LISTS = ['/categories', '/pets', '/store/inventory', '/store/orders'];

/** All resources of a shop, by list. A rejected change must leave them unchanged. */
export async function shopState(api: Client): Promise<Record<string, unknown[]>> {
  const state: Record<string, unknown[]> = {};
  for (const path of LISTS) state[path] = await itemsOf(api, `${path}?limit=100`);
  return state;
}
