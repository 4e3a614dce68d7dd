import { type ApiResponse, send } from './call.ts';
import type { Client } from './client.ts';
import type { Operations } from './contract.ts';
import { PetStoreError } from './errors.ts';
import { type Input, type OperationName, type RequestOptions, requestOf } from './request.ts';

/** A page of a list: its items in `data`, its headers, and where the next page starts. */
export interface Page<T> extends ApiResponse<T[]> {
  /** The `cursor` of the next page; `undefined` on the last page. */
  nextCursor: string | undefined;
}

/** A list, which is read page by page while it is iterated: `for await (const pet of list)`. */
export interface List<T> extends AsyncIterable<T> {
  /** Returns the pages, with their headers: `for await (const { data } of list.pages())`. */
  pages: () => AsyncGenerator<Page<T>>;
  /** Reads a page, and returns its first item; `undefined` if the list is empty. */
  first: () => Promise<T | undefined>;
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
  async function* pages(): AsyncGenerator<Page<ItemOf<Name>>> {
    const request = requestOf(client, operation, input, options);
    for (let url: URL | undefined = request.url; url; ) {
      const response = await send<ItemOf<Name>[]>(client, { ...request, url });
      url = nextOf(client, url, response.headers);
      yield { ...response, nextCursor: url?.searchParams.get('cursor') ?? undefined };
      if (endsEmpty && response.data.length === 0) return;
    }
  }
  async function* items(): AsyncGenerator<ItemOf<Name>, undefined> {
    for await (const { data } of pages()) yield* data;
  }
  return { pages, first: async () => (await items().next()).value, [Symbol.asyncIterator]: items };
}

/** Returns the URL of the next page (RFC 8288). Throws for a URL outside of the API, to which a key must not be sent. */
function nextOf({ baseUrl }: Client, url: URL, headers: Headers): URL | undefined {
  const [, link] = /<([^>]*)>; *rel="?next\b/.exec(headers.get('Link') ?? '') ?? [];
  if (!link) return undefined;
  const next = new URL(link, url);
  if (next.href.startsWith(baseUrl)) return next;
  throw new PetStoreError(`The next page, ${next}, is not below ${baseUrl}`);
}
