import { type ApiResponse, send } from './call.ts';
import type { Client } from './client.ts';
import type { Operations } from './contract.ts';
import { PetStoreError } from './errors.ts';
import { type Input, type OperationName, type RequestOptions, requestOf } from './request.ts';

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
  input: Input,
  options?: RequestOptions,
  endsEmpty = false,
): List<ItemOf<Name>> {
  type Item = ItemOf<Name>;
  const request = requestOf(client, operation, input, options);
  async function read(url = request.url): Promise<Page<Item>> {
    const response = await send<Item[]>(client, { ...request, url }, true);
    const { data } = response;
    const nextUrl = nextOf(client, url, response.headers);
    const page: Page<Item> = {
      ...response,
      items: data,
      nextCursor: nextUrl?.searchParams.get('cursor') ?? undefined,
      next: async () => (nextUrl && (data.length || !endsEmpty) ? read(nextUrl) : undefined),
      [Symbol.asyncIterator]: () => itemsFrom(page),
    };
    return page;
  }
  async function* pages(first?: Page<Item>): AsyncGenerator<Page<Item>> {
    for (let page = first ?? (await read()); page; page = (await page.next())!) yield page;
  }
  async function* itemsFrom(first?: Page<Item>): AsyncGenerator<Item> {
    for await (const { items } of pages(first)) yield* items;
  }
  const toArray = async ({ limit }: { limit: number }) => {
    const items: Item[] = [];
    for await (const item of itemsFrom()) if (items.push(item) >= limit) break;
    return items;
  };
  return {
    pages: () => pages(),
    first: async () => (await toArray({ limit: 1 }))[0],
    toArray,
    // biome-ignore lint/suspicious/noThenProperty: to await a list reads its first page
    then: (resolve, reject) => read().then(resolve, reject),
    [Symbol.asyncIterator]: () => itemsFrom(),
  };
}

/** Returns the URL of the next page (RFC 8288). Throws for a URL outside of the API, to which a key must not be sent. */
export function nextOf({ baseUrl }: Client, url: URL, headers: Headers): URL | undefined {
  const [, link] = /<([^>]*)>; *rel="?next\b/.exec(headers.get('Link') ?? '') ?? [];
  if (!link) return undefined;
  const next = new URL(link, url);
  if (next.href.startsWith(baseUrl)) return next;
  throw new PetStoreError(`The next page, ${next}, is not below ${baseUrl}`);
}
