import type { Order } from '@petstore/client';
import { type Day, dayOf, startOf } from './days.ts';
import { type Period, pagesOfPeriod } from './placed.ts';
import type { Resource } from './resource.ts';

export interface OrderQuery extends Period {
  complete?: boolean | undefined;
  petId?: number | undefined;
  /** The first and the last day of shipping. */
  from?: Day | undefined;
  to?: Day | undefined;
  sort?: OrderSort | undefined;
}

export const orderSorts = ['id', '-id', 'shipDate', '-shipDate'] as const;
type OrderSort = (typeof orderSorts)[number];

export const orders: Resource<Order, OrderQuery> = {
  name: 'order',
  // The service returns no order without an ID.
  idOf: order => order.id!,
  list: (store, { from, to, sort, placedFrom, placedTo, count, ...query }, options) =>
    placedFrom || placedTo
      ? { pages: () => pagesOfPeriod(store, query, { placedFrom, placedTo }, options) }
      : store.orders.list(
          {
            ...query,
            count,
            shipDateFrom: from && startOf(from),
            shipDateTo: to && startOf(to, 1),
            sort: sortOf({ from, to, sort }),
          },
          options,
        ),
  read: (store, id) => store.orders.get(id).withResponse(),
  create: (store, order) => store.orders.create(order),
  update: (store, id, patch, options) => store.orders.update(id, patchOf(patch), options),
  patchOf,
  fixed: ({ complete }) => (complete ? ['petId', 'quantity'] : []),
  remove: (store, id, options) => store.orders.cancel(id, options),
  matches: ({ complete = false, petId, shipDate }, query) =>
    (query.complete === undefined || complete === query.complete) &&
    (query.petId === undefined || petId === query.petId) &&
    (query.from === undefined || (shipDate !== undefined && shipDate >= startOf(query.from))) &&
    (query.to === undefined || (shipDate !== undefined && shipDate < startOf(query.to, 1))) &&
    // A new order was placed now.
    (query.placedFrom === undefined || query.placedFrom <= dayOf(Date.now())) &&
    (query.placedTo === undefined || query.placedTo >= dayOf(Date.now())),
};

/**
 * The order of a list: the newest first, or by ship date if the list is filtered by it, which allows no other order. A list that is
 * filtered by the day of placing has one order only.
 */
export function sortOf({ from, to, placedFrom, placedTo, sort }: OrderQuery): OrderSort {
  if (placedFrom !== undefined) return '-id';
  if (placedTo !== undefined) return 'id';
  const byDate = from !== undefined || to !== undefined;
  if (sort !== undefined && sort.endsWith('shipDate') === byDate) return sort;
  return byDate ? 'shipDate' : '-id';
}

/** A field that the user has emptied is `undefined`, and is removed with null (RFC 7396). */
function patchOf(patch: Partial<Order>) {
  const { petId = null, quantity = null, shipDate = null, complete = null } = patch;
  return {
    ...('petId' in patch && { petId }),
    ...('quantity' in patch && { quantity }),
    ...('shipDate' in patch && { shipDate }),
    ...('complete' in patch && { complete }),
  };
}
