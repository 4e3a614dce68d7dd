import { ApiError } from '../../contract/errors.ts';
import { MAX_ID } from '../../kit/ids.ts';
import { nearest, shortened } from '../../kit/text.ts';
import { type Collection, collections, LOG } from './event-types.ts';

/** The collections that are not at the root of the API, and their paths. */
const paths: Partial<Record<Collection, string>> = { orders: 'store/orders', inventory: 'store/inventory' };

/** Returns the path of a collection in the API. */
export function pathOf(collection: Collection): string {
  return paths[collection] ?? collection;
}

/** The collections whose resources have IDs. */
const withIds = Object.entries(collections).filter(([, collection]) => collection !== LOG);

/** The path of each collection by the names that a client may try: the path, its last part, and the kind of resource. */
const pathsByName = new Map(
  withIds.flatMap(([kind, collection]) => {
    const path = pathOf(collection);
    return [path, collection, kind, `store/${kind}`].map(name => [name, path]);
  }),
);

const storedCollections = new Map(withIds.map(([, name]) => [pathOf(name), name]));

/**
 * Returns a subject as clients get it: the path of the resource, relative to the `source` of events. The log stores only the
 * last part of the collection's path (`orders/17`).
 */
export function printedSubject(stored: string): string {
  if (stored === LOG) return stored;
  const at = stored.indexOf('/');
  return pathOf(stored.slice(0, at) as Collection) + stored.slice(at);
}

/** Returns the stored form of a subject that a client sent. Throws `invalid_request` if no event can have this subject. */
export function storedSubject(printed: string): string {
  if (printed === LOG) return printed;
  const [, path = printed, id = ''] = /^(.*)\/([^/]*)$/.exec(printed) ?? [];
  const collection = storedCollections.get(path);
  if (collection !== undefined && isId(id)) return `${collection}/${id}`;
  throw new ApiError(
    'invalid_request',
    `There is no subject \`${shortened(printed, 50)}\`; ${adviceFor(path, id)}`,
  );
}

function adviceFor(path: string, id: string): string {
  // A path from the root, or the URL of a resource.
  const name = path.replace(/^.*?\/\/[^/]*/, '').replace(/^\//, '');
  const near = nearest(name, [...pathsByName.keys()]);
  if (near === undefined) {
    const known = [...storedCollections.keys()].map(known => `\`${known}\``).join(', ');
    return `a subject is one of ${known} with \`/\` and the ID of a resource, such as \`pets/42\``;
  }
  const nearPath = pathsByName.get(near)!;
  if (isId(id)) return `did you mean \`${nearPath}/${id}\`?`;
  return `did you mean \`${nearPath}/\` with the ID of a resource, such as \`${nearPath}/42\`?`;
}

function isId(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && Number(text) <= MAX_ID;
}
