import { getRouteApi } from '@tanstack/react-router';
import { statuses } from '../../data/pet-status.ts';
import type { PetQuery } from '../../data/pets.ts';
import { useCategories } from '../../data/use-categories.ts';
import { CategoryFilter } from '../../kit/category-menu.tsx';
import { anyOr, Choices } from '../../kit/choices.tsx';
import { SearchField } from '../../kit/search-field.tsx';
import { statusNames } from '../../kit/status-names.ts';
import { ViewsMenu } from './views-menu.tsx';

const route = getRouteApi('/animals');

/** The filters of the list. The URL has them, so that Back, a reload and a link show the same list. */
export function Filters({ query }: { query: PetQuery }) {
  const navigate = route.useNavigate();
  const categories = useCategories();
  // The newest query may be newer than the one of this rendering.
  const set = (change: PetQuery) =>
    navigate({ search: previous => ({ ...previous, ...change }), replace: true });

  return (
    <>
      <SearchField label="Search animals" value={query.q} onChange={q => set({ q })} />
      <Choices
        label="Status"
        choices={anyOr(statusNames, statuses)}
        chosen={query.status}
        onChoose={status => set({ status })}
      />
      <CategoryFilter
        categories={categories}
        chosen={query.categoryId}
        onChoose={categoryId => set({ categoryId })}
      />
      <ViewsMenu query={query} />
    </>
  );
}
