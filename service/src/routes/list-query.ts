import { countParameter, pageLimit, type Schema } from '../contract/schema.ts';
import { defaultSortOf, describeSorts, type FilterOf, idFilterOf, type List, sortsOf } from '../db/list.ts';
import { encodeCursor } from '../kit/paging.ts';

/** The schema of a list's query: its filters, `sort`, `limit`, `cursor` and `count`. */
export function listQuery<L extends List, const Filters extends Record<FilterOf<L>, Schema>>(
  list: L,
  filters: Filters & Record<Exclude<keyof Filters, FilterOf<L>>, never>,
) {
  const properties = {
    ...filters,
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
      example: encodeCursor(list.declaration.defaultSort, [20]),
      patternRule: 'must be taken unchanged from the Link header of a page',
      description: 'The start of the page, from the `Link` header of the previous page.',
    },
    count: countParameter,
  } as const;
  return { type: 'object', additionalProperties: false, properties } as const;
}

/** The limit of a list that can be filtered by IDs has no fixed default. */
function limitOf(list: List) {
  const ids = idFilterOf(list);
  if (ids === undefined) return pageLimit;
  const { default: few, ...limit } = pageLimit;
  return {
    ...limit,
    example: few,
    description: `${limit.description} The default is ${few}, or the number of IDs in \`${ids}\`.`,
  } as const;
}
