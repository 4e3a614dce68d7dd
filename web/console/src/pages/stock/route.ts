import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { rootRoute } from '../../app/root.tsx';
import { statuses } from '../../data/pet-status.ts';
import { type StockQuery, stockSorts } from '../../data/stock.ts';

/** Reads the filters of a URL, and ignores what they cannot be. */
function readQuery(search: Record<string, unknown>): StockQuery {
  const query: StockQuery = {};
  const status = statuses.find(status => status === search.status);
  const categoryId = Number(search.categoryId);
  const quantityBelow = Number(search.quantityBelow);
  if (status) query.status = status;
  if (Number.isSafeInteger(categoryId) && categoryId > 0) query.categoryId = categoryId;
  if (Number.isSafeInteger(quantityBelow) && quantityBelow > 0) query.quantityBelow = quantityBelow;
  const q = String(search.q ?? '').trim();
  const sort = stockSorts.find(sort => sort === search.sort);
  if (q) query.q = q;
  if (sort) query.sort = sort;
  return query;
}

export const stockRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/stock',
  validateSearch: readQuery,
  component: lazyPage(() => import('./stock.tsx'), 'Stock'),
});
