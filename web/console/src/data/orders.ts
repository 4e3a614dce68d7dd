import type { Order } from '@petstore/client';
import type { Resource } from './resource.ts';

export interface OrderQuery {
  complete?: boolean | undefined;
  petId?: number | undefined;
  /** The first and the last day of shipping, such as `2026-12-24`, in the user's time zone. */
  from?: string | undefined;
  to?: string | undefined;
  sort?: OrderSort | undefined;
}

export const orderSorts = ['id', '-id', 'shipDate', '-shipDate'] as const;
export type OrderSort = (typeof orderSorts)[number];

export const orders: Resource<Order, OrderQuery> = {
  name: 'order',
  // The service returns no order without an ID.
  idOf: order => order.id!,
  list: (store, { from, to, sort, ...query }, options) =>
    store.orders.list(
      {
        ...query,
        shipDateFrom: from && startOf(from),
        shipDateTo: to && startOf(to, 1),
        sort: sortOf({ from, to, sort }),
      },
      options,
    ),
  read: (store, id) => store.orders.get(id).withResponse(),
  create: (store, order) => store.orders.create(order),
  update: (store, id, patch, options) => store.orders.update(id, patchOf(patch), options),
  remove: (store, id) => store.orders.cancel(id),
  matches: ({ complete = false, petId, shipDate }, query) =>
    (query.complete === undefined || complete === query.complete) &&
    (query.petId === undefined || petId === query.petId) &&
    (query.from === undefined || (shipDate !== undefined && shipDate >= startOf(query.from))) &&
    (query.to === undefined || (shipDate !== undefined && shipDate < startOf(query.to, 1))),
};

/** The order of a list: the newest first, or by ship date if the list is filtered by it, which allows no other order. */
export function sortOf({ from, to, sort }: OrderQuery): OrderSort {
  const byDate = from !== undefined || to !== undefined;
  if (sort !== undefined && sort.endsWith('shipDate') === byDate) return sort;
  return byDate ? 'shipDate' : '-id';
}

/** The instant at which a day starts in the user's time zone, or a later day. */
function startOf(day: string, daysLater = 0): string {
  const date = new Date(`${day}T00:00`);
  date.setDate(date.getDate() + daysLater);
  return date.toISOString();
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
