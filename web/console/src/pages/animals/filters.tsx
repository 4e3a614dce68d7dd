import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { statuses } from '../../data/pet-status.ts';
import type { PetQuery } from '../../data/pets.ts';
import { useCategories } from '../../data/use-categories.ts';
import { Icon } from '../../kit/icon.tsx';
import { statusNames } from '../../kit/status.tsx';

/** How long the user may pause while typing before the search is sent, in milliseconds. */
const PAUSE = 150;

const route = getRouteApi('/animals');

/** The filters of the list. The URL has them, so that Back, a reload and a link show the same list. */
export function Filters({ query }: { query: PetQuery }) {
  const navigate = route.useNavigate();
  const categories = useCategories();
  const [typed, setTyped] = useState(query.q ?? '');
  // The newest query may be newer than the one of this rendering.
  const set = (change: PetQuery) =>
    navigate({ search: previous => ({ ...previous, ...change }), replace: true });

  useEffect(() => setTyped(query.q ?? ''), [query.q]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing starts the pause
  useEffect(() => {
    if (typed.trim() === (query.q ?? '')) return;
    const timer = setTimeout(() => set({ q: typed.trim() || undefined }), PAUSE);
    return () => clearTimeout(timer);
  }, [typed]);

  return (
    <search className="filters">
      <label className="search">
        <Icon name="search" />
        <input
          type="search"
          aria-label="Search animals"
          placeholder="Search by name"
          value={typed}
          spellCheck={false}
          onChange={event => setTyped(event.target.value)}
        />
      </label>
      <fieldset className="choices">
        <legend className="visually-hidden">Status</legend>
        {[undefined, ...statuses].map(status => (
          <button
            key={status ?? 'all'}
            type="button"
            aria-pressed={query.status === status}
            onClick={() => set({ status })}
          >
            {status ? statusNames[status] : 'All'}
          </button>
        ))}
      </fieldset>
      <select
        aria-label="Category"
        value={query.categoryId ?? ''}
        onChange={event => set({ categoryId: Number(event.target.value) || undefined })}
      >
        <option value="">All categories</option>
        {categories.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </search>
  );
}
