import type { List, Page } from '@petstore/client';
import type { Context, Items } from './command.ts';
import { exitCodeOf, exitCodes, PartialError, UsageError } from './failure.ts';

/** The contract's maximum: each page is one request. */
export const LARGEST_PAGE = { limit: 1_000 };

/** Returns the items of a command, at most `limit`. Calls `onMore` if a list has more, and `onItem` before each item. */
export async function* itemsOf(
  items: Items,
  limit: number,
  onMore: () => void,
  onItem: () => void,
): AsyncGenerator<object> {
  for await (const item of read(items, limit, onMore)) {
    onItem();
    yield item;
  }
}

async function* read(items: Items, limit: number, onMore: () => void): AsyncGenerator<object> {
  if (!('pages' in items) && !(Symbol.asyncIterator in items)) {
    yield await items;
    return;
  }
  let left = limit;
  if (!('pages' in items)) {
    for await (const item of items) {
      yield item;
      if (--left <= 0) return;
    }
    return;
  }
  for await (const { data, nextCursor } of items.pages()) {
    yield* data.slice(0, left);
    left -= data.length;
    if (left > 0) continue;
    if (left < 0 || nextCursor !== undefined) onMore();
    return;
  }
}

/** Returns a list of what `change` makes of the items on the pages. */
export function changedList<Item extends object>(
  pages: () => AsyncIterable<Page<Item>>,
  change: (item: Item) => object,
): AsyncIterable<object> & Pick<List<object>, 'pages'> {
  return {
    async *pages() {
      for await (const { data, ...rest } of pages()) yield { ...rest, data: data.map(change) };
    },
    async *[Symbol.asyncIterator]() {
      for await (const { data } of pages()) yield* data.map(change);
    },
  };
}

/** The size of the pages to read. */
export const pageSize = ({ limit }: Pick<Context, 'limit'>): { limit: number } => ({
  limit: Math.min(limit, LARGEST_PAGE.limit),
});

/** Returns the values of an option that can be repeated; without one `undefined`, which does not filter. */
export const orAll = <T>(values: readonly T[]): Exclude<T, undefined>[] | undefined =>
  values.length > 0 ? (values as Exclude<T, undefined>[]) : undefined;

/**
 * Yields the result of a call for each ID, in the order of the IDs. Writes the errors of single calls to standard error, and
 * throws a `PartialError` at the end. With only one ID its error is thrown.
 */
export async function* each<Item extends object>(
  { fail }: Pick<Context, 'fail'>,
  ids: readonly number[],
  call: (id: number) => Promise<Item>,
): AsyncGenerator<Item> {
  // All calls start now: the client sends as many at a time as the limits allow.
  const results = ids.map(id =>
    call(id).then(
      item => ({ item }),
      (error: unknown) => ({ error }),
    ),
  );
  const errors: unknown[] = [];
  for (const pending of results) {
    const result = await pending;
    if ('item' in result) {
      yield result.item;
      continue;
    }
    if (ids.length === 1) throw result.error;
    // One limit or one missing key makes many calls fail with the same message.
    if (!errors.some(error => messageOf(error) === messageOf(result.error))) fail(result.error);
    errors.push(result.error);
  }
  if (errors.length === 0) return;
  const isPartial = errors.length < ids.length;
  throw new PartialError(
    `${errors.length} of ${ids.length} failed: see above`,
    isPartial ? exitCodes.partial : exitCodeOf(errors[0]),
  );
}

const messageOf = (error: unknown) => (error as Error).message;

/** Calls an operation that returns nothing for each ID, and yields the outcome. */
export function eachDone(
  context: Context,
  ids: readonly number[],
  outcome: string,
  call: (id: number) => Promise<unknown>,
): AsyncGenerator<{ id: number; outcome: string }> {
  return each(context, ids, async id => {
    await call(id);
    return { id, outcome };
  });
}

/** Returns the values that are not undefined: the fields of a body. */
export function defined<T extends object>(values: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as ReturnType<typeof defined<T>>;
}

/** Returns the fields to change. Throws a `UsageError` if there are none. */
export function changes<T extends object>(values: T): ReturnType<typeof defined<T>> {
  const fields = defined(values);
  if (Object.keys(fields).length > 0) return fields;
  throw new UsageError('Nothing would change: give at least one option');
}
