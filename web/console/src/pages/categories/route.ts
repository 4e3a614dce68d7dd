import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { rootRoute } from '../../app/root.tsx';
import type { CategoryQuery } from '../../data/categories.ts';

/** Reads the filters of a URL, and ignores what they cannot be. */
function readQuery(search: Record<string, unknown>): CategoryQuery {
  const name = String(search.name ?? '').trim();
  return name ? { name } : {};
}

const listRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/categories',
  validateSearch: readQuery,
  component: lazyPage(() => import('./categories.tsx'), 'Categories'),
});

const newRoute = createRoute({
  getParentRoute: () => listRoute,
  path: '/new',
  component: lazyPage(() => import('./categories.tsx'), 'NewCategory'),
});

const categoryRoute = createRoute({
  getParentRoute: () => listRoute,
  path: '/$categoryId',
  component: lazyPage(() => import('./categories.tsx'), 'EditCategory'),
});

export const categoriesRoutes = listRoute.addChildren([newRoute, categoryRoute]);
