import assert from 'node:assert/strict';
import { digestOf, encodeCursor, type SortKey } from '../../src/kit/paging.ts';
import type { ApiResponse, Client } from './client.ts';

/** Reads the pages of a list as a client does: follows the `Link` of each page until one has none. */
export async function* pagesOf(api: Client, path: string): AsyncGenerator<ApiResponse> {
  for (let next: string | undefined = path; next !== undefined; ) {
    const page = await api.get(next);
    assert.equal(page.status, 200, page.text);
    assert.notEqual(nextPath(page), next, 'a page links to itself');
    next = nextPath(page);
    yield page;
  }
}

/** All items of a list, from its pages. */
export async function itemsOf(api: Client, path: string) {
  return (await Array.fromAsync(pagesOf(api, path), ({ body }) => body)).flat();
}

/** The cursor after a row of a list without filters; the row need not exist, and the key can have any form. */
export function cursorAfter(sort: string, key: readonly unknown[]): string {
  return encodeCursor(digestOf({ sort, conditions: { keys: {}, equal: {} } }), key as SortKey);
}

/** The path of the next page; `undefined` on the last. */
export function nextPath({ headers }: ApiResponse): string | undefined {
  if (headers.link === undefined) return undefined;
  const [, path] = /^<([^>]+)>; rel="next"$/.exec(String(headers.link)) ?? [];
  assert.ok(path, `${headers.link} is not a link to a next page`);
  return path;
}
