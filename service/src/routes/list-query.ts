import { pageLimit, type Schema } from '../contract/schema.ts';
import { defaultSortOf, describeSorts, type FilterOf, type List, sortsOf } from '../db/list.ts';

/** The schema of a list's query: its filters, `sort`, `limit` and `cursor`. */
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
      pattern: '^[A-Za-z0-9_-]+$',
      patternRule: 'must be taken unchanged from the Link header of a page',
      description: 'The start of the page, from the `Link` header of the previous page.',
    },
  } as const;
  return { type: 'object', additionalProperties: false, properties } as const;
}
