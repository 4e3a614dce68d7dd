import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { rootRoute } from '../../app/root.tsx';
import { statuses } from '../../data/pet-status.ts';
import type { PetQuery } from '../../data/pets.ts';

const sorts = ['id', '-id', 'name', '-name'] as const;

/** Reads the filters of a URL, and ignores what they cannot be. */
function readQuery(search: Record<string, unknown>): PetQuery {
  const query: PetQuery = {};
  const q = String(search.q ?? '').trim();
  const status = statuses.find(status => status === search.status);
  const sort = sorts.find(sort => sort === search.sort);
  const categoryId = Number(search.categoryId);
  if (q) query.q = q;
  if (status) query.status = status;
  if (Number.isSafeInteger(categoryId) && categoryId > 0) query.categoryId = categoryId;
  if (sort) query.sort = sort;
  return query;
}

const listRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/animals',
  validateSearch: readQuery,
  component: lazyPage(() => import('./animals.tsx'), 'Animals'),
});

const newRoute = createRoute({
  getParentRoute: () => listRoute,
  path: '/new',
  component: lazyPage(() => import('./animals.tsx'), 'NewAnimal'),
});

const animalRoute = createRoute({
  getParentRoute: () => listRoute,
  path: '/$petId',
  component: lazyPage(() => import('./animals.tsx'), 'EditAnimal'),
});

export const animalsRoutes = listRoute.addChildren([newRoute, animalRoute]);
