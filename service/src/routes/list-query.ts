import { countParameter, pageLimit, type Schema } from '../contract/schema.ts';
import { parameters } from '../contract/shape.ts';
import type { List } from '../db/list.ts';
import { defaultSortOf, describeCombinations, describeSorts, sortsOf } from '../db/list-rules.ts';
import { selectionOf } from '../db/select-page.ts';
import { digestOf, encodeCursor } from '../kit/paging.ts';

type FiltersOf<L extends List> = L['declaration']['filters'];

/** The schemas of the filters of a list. */
type FilterSchemas<L extends List> = {
  readonly [F in keyof FiltersOf<L>]: FiltersOf<L>[F]['schema'] extends infer S extends Schema ? S : never;
};

/** The schema of a list's query: its filters, `sort`, `limit`, `cursor` and `count`. */
export function listQuery<L extends List>(list: L) {
  const filters = Object.entries(list.declaration.filters).map(([name, { schema }]) => [
    name,
    { ...schema, description: schema.description + describeCombinations(list, name) },
  ]);
  return parameters({
    ...(Object.fromEntries(filters) as FilterSchemas<L>),
    sort: {
      type: 'string',
      enum: sortsOf(list),
      ...defaultSortOf(list),
      description: describeSorts(list),
    },
    limit: limitOf(list),
    cursor: {
      type: 'string',
      minLength: 1,
      maxLength: 4096,
      pattern: '^[A-Za-z0-9_-]+$',
      // After the entry with the ID 20, in the default order.
      example: encodeCursor(digestOf(selectionOf(list, {})), [20]),
      patternRule: 'must be taken unchanged from the Link header of a page',
      description: 'The start of the page, from the `Link` header of the previous page.',
    },
    count: countParameter,
  });
}

/** The limit of a list that can be filtered by IDs has no fixed default. */
function limitOf(list: List) {
  const ids = list.filters.find(({ kind }) => kind === 'oneOf');
  if (ids === undefined) return pageLimit;
  const { default: few, ...limit } = pageLimit;
  return {
    ...limit,
    example: few,
    description: `${limit.description} The default is ${few}, or the number of IDs in \`${ids.name}\`.`,
  } as const;
}
