import { pageLimit, type Schema } from '../contract/schema.ts';
import { defaultSortOf, describeSorts, type FilterOf, type List, sortsOf } from '../db/list.ts';

/** The query of a list: a schema for each of its filters, its sorts, and where the page begins and ends. */
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
    limit: pageLimit,
    cursor: {
      type: 'string',
      minLength: 1,
      maxLength: 4096,
      description: 'Where the page begins: taken from the `Link` header of the page before.',
    },
  } as const;
  return { type: 'object', additionalProperties: false, properties } as const;
}
