/**
 * Keyset paging: a cursor names the last row seen by its sort key, so that a page costs the same wherever it
 * lies, and rows inserted meanwhile neither repeat nor skip others.
 */

export interface Page<Item> {
  items: Item[];
  /** The cursor of the next page; absent on the last one. */
  next?: string;
}

/** The values of a row that place it in its list. */
export type SortKey = readonly (string | number)[];

/** A page that cannot be read as it was asked for; the message says why, to the client. */
export class InvalidListing extends Error {}

/** A cursor that this service did not make, or not for this order and these filters of the list. */
export class InvalidCursor extends InvalidListing {
  constructor() {
    super(
      'Query parameter `cursor` must be taken unchanged from the Link header of a page with the same `sort` and filters',
    );
    this.name = 'InvalidCursor';
  }
}

/** A sort that no index serves together with the filters. */
export class InvalidSort extends InvalidListing {}

/** The opaque text of a cursor: the sort it belongs to and the key of the last row seen. */
export function encodeCursor(sort: string, key: SortKey): string {
  return Buffer.from(JSON.stringify([sort, ...key])).toString('base64url');
}

/** The sort key in a cursor that was made for the same sort, whose parts have the given types; else InvalidCursor. */
export function decodeCursor(cursor: string, sort: string, types: readonly ('string' | 'number')[]): SortKey {
  const [, ...key] = parseArray(cursor);
  // Written anew it must be the same text: for this sort, and without what decoding base64url passes over.
  if (!isSortKey(key, types) || encodeCursor(sort, key) !== cursor) throw new InvalidCursor();
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
