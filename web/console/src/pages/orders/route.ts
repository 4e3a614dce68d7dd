import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { rootRoute } from '../../app/root.tsx';
import { dayIn } from '../../data/days.ts';
import { type OrderQuery, orderSorts } from '../../data/orders.ts';

/** Reads the filters of a URL, and ignores what they cannot be. */
function readQuery(search: Record<string, unknown>): OrderQuery {
  const query: OrderQuery = {};
  const petId = Number(search.petId);
  const from = dayIn(search.from);
  const to = dayIn(search.to);
  const placedFrom = dayIn(search.placedFrom);
  const placedTo = dayIn(search.placedTo);
  const sort = orderSorts.find(sort => sort === search.sort);
  if (typeof search.complete === 'boolean') query.complete = search.complete;
  if (Number.isSafeInteger(petId) && petId > 0) query.petId = petId;
  // The service has no list by both days.
  if (placedFrom || placedTo) {
    if (placedFrom) query.placedFrom = placedFrom;
    if (placedTo) query.placedTo = placedTo;
  } else {
    if (from) query.from = from;
    if (to) query.to = to;
  }
  if (sort) query.sort = sort;
  return query;
}

const listRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/orders',
  validateSearch: readQuery,
  component: lazyPage(() => import('./orders.tsx'), 'Orders'),
});

const newRoute = createRoute({
  getParentRoute: () => listRoute,
  path: '/new',
  component: lazyPage(() => import('./orders.tsx'), 'NewOrder'),
});

const orderRoute = createRoute({
  getParentRoute: () => listRoute,
  path: '/$orderId',
  component: lazyPage(() => import('./orders.tsx'), 'EditOrder'),
});

export const ordersRoutes = listRoute.addChildren([newRoute, orderRoute]);
