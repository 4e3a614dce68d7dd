import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { rootRoute } from '../../app/root.tsx';
import { type KeyQuery, plans } from '../../data/keys.ts';

/** Reads the filters of a URL, and ignores what they cannot be. */
function readQuery(search: Record<string, unknown>): KeyQuery {
  const query: KeyQuery = {};
  const name = String(search.name ?? '').trim();
  const plan = plans.find(plan => plan === search.plan);
  if (name) query.name = name;
  if (plan) query.plan = plan;
  if (search.show === 'revoked' || search.show === 'all') query.show = search.show;
  if (search.order === 'busiest') query.order = search.order;
  return query;
}

const listRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/keys',
  validateSearch: readQuery,
  component: lazyPage(() => import('./keys.tsx'), 'Keys'),
});

const newRoute = createRoute({
  getParentRoute: () => listRoute,
  path: '/new',
  component: lazyPage(() => import('./keys.tsx'), 'NewKey'),
});

const leakedRoute = createRoute({
  getParentRoute: () => listRoute,
  path: '/leaked',
  component: lazyPage(() => import('./keys.tsx'), 'LeakedKeys'),
});

const keyRoute = createRoute({
  getParentRoute: () => listRoute,
  path: '/$keyId',
  component: lazyPage(() => import('./keys.tsx'), 'EditKey'),
});

export const keysRoutes = listRoute.addChildren([newRoute, leakedRoute, keyRoute]);
