import { ApiError } from '../../contract/errors.ts';
import { MAX_ID } from '../../kit/ids.ts';
import { nearest, shortened } from '../../kit/text.ts';
import { collections, singles } from './event-types.ts';

/** The collections whose resources have IDs. */
const withIds = Object.entries(collections).filter(([, path]) => !singles.has(path));

/** The path of each collection by the names that a client may try: the path, its last part, and the kind of resource. */
const pathsByName = new Map(
  withIds.flatMap(([kind, path]) =>
    [path, path.replace('store/', ''), kind, `store/${kind}`].map(name => [name, path]),
  ),
);

const paths: ReadonlySet<string> = new Set(withIds.map(([, path]) => path));

/** Throws `invalid_request` if no event can have this subject. */
export function rejectUnknownSubject(subject: string): void {
  if (singles.has(subject)) return;
  const [, path = subject, id = ''] = /^(.*)\/([^/]*)$/.exec(subject) ?? [];
  if (paths.has(path) && isId(id)) return;
  throw new ApiError(
    'invalid_request',
    `There is no subject \`${shortened(subject, 50)}\`; ${adviceFor(path, id)}`,
  );
}

function adviceFor(path: string, id: string): string {
  // A path from the root, or the URL of a resource.
  const name = path.replace(/^.*?\/\/[^/]*/, '').replace(/^\//, '');
  const near = nearest(name, [...pathsByName.keys()]);
  if (near === undefined) {
    const known = [...paths].map(known => `\`${known}\``).join(', ');
    return `a subject is one of ${known} with \`/\` and the ID of a resource, such as \`pets/42\``;
  }
  const nearPath = pathsByName.get(near)!;
  if (isId(id)) return `did you mean \`${nearPath}/${id}\`?`;
  return `did you mean \`${nearPath}/\` with the ID of a resource, such as \`${nearPath}/42\`?`;
}

function isId(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && Number(text) <= MAX_ID;
}
