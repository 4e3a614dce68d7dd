import assert from 'node:assert/strict';
import type { ApiResponse, Client } from './client.ts';

/** Goes through the pages of a list as a client does: by the `Link` of each, until one has none. */
export async function* pagesOf(api: Client, path: string): AsyncGenerator<ApiResponse> {
  for (let next: string | undefined = path; next !== undefined; ) {
    const page = await api.get(next);
    assert.equal(page.status, 200, page.text);
    assert.notEqual(nextPath(page), next, 'a page is its own next one');
    next = nextPath(page);
    yield page;
  }
}

/** Where a page says that the next one is; `undefined` on the last. */
export function nextPath({ headers }: ApiResponse): string | undefined {
  if (headers.link === undefined) return undefined;
  const [, path] = /^<([^>]+)>; rel="next"$/.exec(String(headers.link)) ?? [];
  assert.ok(path, `${headers.link} is no link to a next page`);
  return path;
}
