import { hash } from 'node:crypto';

/**
 * Keyset paging: a cursor is the sort key of the last row on a page. So every page costs the same, and rows that are inserted
 * between two pages do not repeat or skip others.
 */

/** The number of items on a page for which the request sets no limit. */
export const DEFAULT_LIMIT = 20;

/** The highest number of items that a list is counted to. */
export const MAX_COUNTED = 10_000;

export interface Page<Item> {
  items: Item[];
  /** The number of items in the whole list, if it was counted; above `MAX_COUNTED` it means that number or more. */
  total?: number;
  /** The cursor of the next page; missing on the last page. */
  next?: string;
}

/** The values of a row that determine its position in the list. */
export type SortKey = readonly (string | number)[];

/** An invalid request for a page. The message is for the client. */
export class InvalidListing extends Error {}

/** A cursor that this service did not create for this order and these filters. */
export class InvalidCursor extends InvalidListing {
  constructor() {
    super(
      'Query parameter `cursor` must be taken unchanged from the Link header of a page with the same `sort` and filters',
    );
    this.name = 'InvalidCursor';
  }
}

/** Returns what the cursors of a list begin with: 66 bits that depend on its sort and all its filters. */
export function digestOf(sortAndFilters: unknown): string {
  return hash('sha256', JSON.stringify(sortAndFilters), 'base64url').slice(0, 11);
}

/** The opaque text of a cursor: the digest of the list, and the key of the last row. */
export function encodeCursor(digest: string, key: SortKey): string {
  return Buffer.from(JSON.stringify([digest, ...key])).toString('base64url');
}

/** The sort key in a cursor for the same list, with parts of the given types. Throws InvalidCursor. */
export function decodeCursor(
  cursor: string,
  digest: string,
  types: readonly ('string' | 'number')[],
): SortKey {
  const [, ...key] = parseArray(cursor);
  // Encoding it again must result in the same text: this checks the digest, and characters that base64url decoding ignores.
  if (!isSortKey(key, types) || encodeCursor(digest, key) !== cursor) throw new InvalidCursor();
  return key;
}

function isSortKey(key: unknown[], types: readonly ('string' | 'number')[]): key is (string | number)[] {
  return (
    key.length === types.length &&
    key.every((part, i) => (types[i] === 'number' ? Number.isSafeInteger(part) : isText(part)))
  );
}

function parseArray(cursor: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}

function isText(part: unknown): boolean {
  return typeof part === 'string' && part.isWellFormed() && !part.includes('\0');
}

export function mapPage<From, To>(page: Page<From>, map: (item: From) => To): Page<To> {
  return { ...page, items: page.items.map(map) };
}
