import { type ApiResponse, send } from './call.ts';
import type { Client } from './client.ts';
import type { Operations } from './contract.ts';
import { type OperationName, type RequestOptions, requestOf, type ValuesOf } from './request.ts';

/** A page of a list. `for await (const pet of page)` yields its items and those of all later pages. */
export interface Page<T> extends ApiResponse<T[]>, AsyncIterable<T> {
  /** The items of this page; the same as `data`. */
  items: T[];
  /** The `cursor` of the next page; `undefined` on the last page. */
  nextCursor: string | undefined;
  /** Reads the next page. Returns `undefined` after the last page. */
  next: () => Promise<Page<T> | undefined>;
}

/**
 * A list, which is read page by page while it is iterated: `for await (const pet of list)`. As a promise it is its first page:
 * `const { items } = await list`.
 */
export interface List<T> extends AsyncIterable<T>, PromiseLike<Page<T>> {
  /** Returns the pages, with their headers: `for await (const { items } of list.pages())`. */
  pages: () => AsyncGenerator<Page<T>>;
  /** Reads a page, and returns its first item; `undefined` if the list is empty. */
  first: () => Promise<T | undefined>;
  /** Reads pages until they have `limit` items, and returns these items. */
  toArray: (options: { limit: number }) => Promise<T[]>;
}

type Lists = {
  [Name in OperationName]: Operations[Name] extends {
    query: { cursor?: string | undefined };
    result: unknown[];
  }
    ? Name
    : never;
};
type ListName = Lists[OperationName];
type ItemOf<Name extends ListName> = Operations[Name]['result'][number];

/** Reads a list, to the page without a link to the next one, or with `endsEmpty` to the first empty page. */
export function list<Name extends ListName>(
  client: Client,
  operation: Name,
  values: ValuesOf<Name>,
  options?: RequestOptions,
  endsEmpty = false,
): List<ItemOf<Name>> {
  type Item = ItemOf<Name>;
  async function read(place?: { cursor: string }): Promise<Page<Item>> {
    const response = await send<Item[]>(client, requestOf(client, operation, values, options, place), '[');
    const { data, headers } = response;
    const cursor = nextCursorOf(headers);
    const page: Page<Item> = {
      ...response,
      items: data,
      nextCursor: cursor,
      next: async () => (cursor && (data.length || !endsEmpty) ? read({ cursor }) : undefined),
      async *[Symbol.asyncIterator]() {
        for (let later: Page<Item> | undefined = page; later; later = await later.next()) yield* later.items;
      },
    };
    return page;
  }
  const all: List<Item> = {
    async *pages() {
      for (let page: Page<Item> | undefined = await read(); page; page = await page.next()) yield page;
    },
    async first() {
      for await (const item of all) return item;
      return undefined;
    },
    async toArray({ limit }) {
      const items: Item[] = [];
      if (limit) for await (const item of all) if (items.push(item) >= limit) break;
      return items;
    },
    // biome-ignore lint/suspicious/noThenProperty: to await a list reads its first page
    then: (resolve, reject) => read().then(resolve, reject),
    async *[Symbol.asyncIterator]() {
      yield* await read();
    },
  };
  return all;
}

/** Returns the `cursor` of the next page (RFC 8288). Only the cursor of the link is used, so no link leads the API key to another server. */
export function nextCursorOf(headers: Headers): string | undefined {
  return /[?&]cursor=([\w-]+)[^>]*>; *rel="?next\b/.exec(headers.get('Link') ?? '')?.[1];
}
