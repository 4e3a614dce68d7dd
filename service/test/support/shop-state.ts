import type { Client } from './client.ts';
import { pagesOf } from './pages.ts';

const LISTS = ['/categories', '/pets', '/store/inventory', '/store/orders'];

/** All resources of a shop, by list. A rejected change must leave them unchanged. */
export async function shopState(api: Client): Promise<Record<string, unknown[]>> {
  const state: Record<string, unknown[]> = {};
  for (const path of LISTS) {
    const pages = await Array.fromAsync(pagesOf(api, `${path}?limit=100`), ({ body }) => body);
    state[path] = pages.flat();
  }
  return state;
}
