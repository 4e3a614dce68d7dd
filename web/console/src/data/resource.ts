import type { Call, CallOptions, Page, PetStore } from '@petstore/client';

/** A version of one item, with the ETag that a write has to name. */
export interface Version<T> {
  data: T;
  etag: string | undefined;
}

/** The most items of a page of a list of the service, also of the history. */
export const LARGEST_PAGE = 1_000;

export interface PageQuery {
  limit: number;
  cursor?: string;
  count?: boolean;
}

/** What is used of a page. */
export type PageOf<T> = Pick<Page<T>, 'data' | 'headers' | 'nextCursor'>;

/** A list that is read page by page. */
export interface Pages<T> {
  pages(): AsyncIterable<PageOf<T>>;
}

/** What the hooks for lists need to know about a kind of resource. */
export interface Listing<T extends object, Query extends object = object> {
  /** The prefix of its event types, which is also the first part of its keys in the cache. */
  name: string;
  idOf(item: T): number;
  /** Whether no event reports changes by the service: a list is read again at each visit. */
  isSilent?: boolean;
  list(store: PetStore, query: Query & PageQuery, options?: CallOptions): Pages<T>;
}

/**
 * What the hooks for lists and edits need to know about a kind of resource. Each kind has one definition, in this folder.
 * The functions call one operation each, and reject with its error.
 */
export interface Resource<T extends object, Query extends object = object> extends Listing<T, Query> {
  read(store: PetStore, id: number): Promise<Version<T>>;
  /** Creates an item. The service names what is missing. */
  create(store: PetStore, item: Partial<T>): Call<T>;
  /** Changes fields of an item. */
  update(store: PetStore, id: number, patch: Partial<T>, options: CallOptions): Call<T>;
  /** Returns what `update` sends, if it differs from the values of a form. */
  patchOf?(patch: Partial<T>): object;
  /** The fields of an item that can no longer change. */
  fixed?(item: T): readonly (keyof T)[];
  remove(store: PetStore, id: number, options?: CallOptions): Call<undefined>;
  /** Restores what the old values of the changed fields do not, after they were written to undo a change. */
  restore?(store: PetStore, before: T, changed: T, undone: T): Promise<T>;
  /** Whether a new item belongs to a list. The service decides about all others. */
  matches(item: T, query: Query): boolean;
}

/** Reads the first page of a list. */
export async function firstPage<T>(list: Pages<T>): Promise<PageOf<T>> {
  for await (const page of list.pages()) return page;
  throw new Error('A list has at least one page');
}

/** The number of all items of a list. */
export interface Total {
  count: number;
  /** Whether there are more than were counted. */
  hasMore: boolean;
}

/** The number of all items of a list, if its first page has counted them. */
export function countOf({ headers }: { headers: Headers }): Total | undefined {
  const count = headers.get('X-Total-Count');
  if (count === null) return undefined;
  return { count: Number(count), hasMore: headers.get('X-Total-Count-Relation') === 'gte' };
}

/** A number of items as the user reads it, such as `12` or `10,000+`. */
export function shownTotal({ count, hasMore }: Total): string {
  return count.toLocaleString() + (hasMore ? '+' : '');
}

/** The same of the first page of a list. */
export function totalOf(page: { headers: Headers }): string | undefined {
  const total = countOf(page);
  return total && shownTotal(total);
}
