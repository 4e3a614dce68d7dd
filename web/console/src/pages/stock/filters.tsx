import { getRouteApi } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { statuses } from '../../data/pet-status.ts';
import type { StockQuery } from '../../data/stock.ts';
import { useCategories } from '../../data/use-categories.ts';
import { CategoryFilter } from '../../kit/category-menu.tsx';
import { anyOr, Choices } from '../../kit/choices.tsx';
import { SearchField } from '../../kit/search-field.tsx';
import { statusNames } from '../../kit/status-names.ts';

const route = getRouteApi('/stock');

/** The numbers of units below which the list can be filtered. A URL can have another one. */
const levels = [1, 3, 5, 10, 25];

/** The filters of the list. The URL has them, so that Back, a reload and a link show the same list. */
export function Filters({ query }: { query: StockQuery }) {
  const navigate = route.useNavigate();
  const { can } = useSession();
  const categories = useCategories();
  // The newest query may be newer than the one of this rendering.
  const set = (change: StockQuery) =>
    navigate({ search: previous => ({ ...previous, ...change }), replace: true });
  const { quantityBelow: below } = query;
  const offered = below === undefined || levels.includes(below) ? levels : [...levels, below];

  return (
    <>
      {can('pets:read') && <SearchField label="Search animals" value={query.q} onChange={q => set({ q })} />}
      <Choices
        label="Status"
        choices={anyOr(statusNames, statuses)}
        chosen={query.status}
        onChoose={status => set({ status })}
      />
      <select
        aria-label="Units"
        value={below ?? ''}
        onChange={event => set({ quantityBelow: Number(event.target.value) || undefined })}
      >
        <option value="">Any number</option>
        {offered.map(level => (
          <option key={level} value={level}>
            {level === 1 ? 'None in stock' : `Below ${level} units`}
          </option>
        ))}
      </select>
      <CategoryFilter
        categories={categories}
        chosen={query.categoryId}
        onChoose={categoryId => set({ categoryId })}
      />
    </>
  );
}
