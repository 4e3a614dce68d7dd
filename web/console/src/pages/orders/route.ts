import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { rootRoute } from '../../app/root.tsx';
import { type OrderQuery, orderSorts } from '../../data/orders.ts';

/** Returns a day such as `2026-12-24`; `undefined` if it is none. */
function readDay(value: unknown): string | undefined {
  const day = String(value ?? '');
  return /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day)) ? day : undefined;
}

/** Reads the filters of a URL, and ignores what they cannot be. */
function readQuery(search: Record<string, unknown>): OrderQuery {
  const query: OrderQuery = {};
  const petId = Number(search.petId);
  const from = readDay(search.from);
  const to = readDay(search.to);
  const placedFrom = readDay(search.placedFrom);
  const placedTo = readDay(search.placedTo);
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
