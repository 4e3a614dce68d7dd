import { Link } from '@tanstack/react-router';
import { Icon } from './icon.tsx';

/**
 * The header of a column that sorts its list: in the other direction, if the list is sorted by it. `sort` is the present order, such as
 * `-name`; `undefined` if the list has one of its own, as that of a search.
 */
export function sortedBy(field: string, title: string, sort: string | undefined) {
  if (sort === undefined) return { header: title };
  const sorted =
    sort === field ? ('ascending' as const) : sort === `-${field}` ? ('descending' as const) : undefined;
  const next = sorted === 'ascending' ? `-${field}` : field;
  return {
    sorted,
    header: (
      <Link
        to="."
        // Each list reads from its URL what it can be sorted by.
        search={previous => ({ ...previous, sort: next as never })}
        replace
        data-sorted={sorted}
      >
        {title}
        <Icon name="down" />
      </Link>
    ),
  };
}
