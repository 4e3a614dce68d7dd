import type { HistoryEntry, InventoryItem, Order, Pet, PetStore } from '@petstore/client';
import { useQuery } from '@tanstack/react-query';
import { type Session, useSession } from '../app/session.ts';
import { addDays, type Day, startOf } from './days.ts';
import { idOf } from './id-of.ts';
import { isFresh } from './is-fresh.ts';
import { useLowStock } from './low-stock.ts';
import { stateOf } from './order-state.ts';
import { keepNames } from './pet-names.ts';
import { usePlanRequests } from './plan-requests.ts';
import { countOf, firstPage, type Total } from './resource.ts';
import { useCategoriesQuery } from './use-categories.ts';
import { useDay } from './use-day.ts';

/** The most orders that are read, and that one click completes. */
const MOST = 100;

/** How many changes of animals are read to see which holds are new. */
const MOST_CHANGES = 1_000;

/** How many holds are looked up one by one if there are more changes. */
const MOST_LOOKUPS = 10;

/** Open orders of some days, by their ship dates. */
export interface DueOrders {
  orders: readonly Order[];
  total: Total;
}

async function readDue({ store, cache, can }: Session, period: { from?: Day; to: Day }): Promise<DueOrders> {
  const page = await firstPage(
    store.orders.list({
      complete: false,
      shipDateFrom: period.from && startOf(period.from),
      shipDateTo: startOf(period.to, 1),
      sort: 'shipDate',
      limit: MOST,
      count: true,
    }),
  );
  // A draft cannot be completed.
  const orders = page.data.filter(order => stateOf(order) === 'open');
  const id = orders.flatMap(({ petId }) => petId ?? []);
  // With the orders, so that nothing moves when the names arrive.
  if (id.length > 0 && can('pets:read'))
    keepNames(cache, (await firstPage(store.pets.list({ id, limit: MOST }))).data);
  const counted = countOf(page);
  return {
    orders,
    total: counted && counted.count > MOST ? counted : { count: orders.length, hasMore: false },
  };
}

/**
 * The animals that staff have put on hold more than a week ago. An animal that is pending because of its orders has no unit left.
 */
async function readOldHolds(store: PetStore, today: Day): Promise<Pet[]> {
  const { data } = await firstPage(
    store.inventory.list({ status: ['pending'], sort: '-quantity', limit: MOST }),
  );
  let held = new Set(data.filter(isHeld).map(({ petId }) => petId));
  if (held.size === 0) return [];
  const from = startOf(today, -7);
  // An animal can be on hold from the start, without a change. IDs are in the order of creation.
  const created = await store.events.list({ type: 'pet.created', from, limit: 1 }).first();
  if (created) held = new Set([...held].filter(id => id < idOf(created)));
  const query = { type: 'pet.updated', from };
  const newest = await firstPage(store.events.history({ ...query, limit: MOST_CHANGES }));
  for (const entry of newest.data) if (beginsHold(entry)) held.delete(idOf(entry));
  if (newest.nextCursor !== undefined) {
    // The others may be new as well. Those of the oldest animals are the most likely to be old.
    const ids = [...held].sort((a, b) => a - b).slice(0, MOST_LOOKUPS);
    const pages = await Promise.all(
      ids.map(id => firstPage(store.events.history({ ...query, subject: `pets/${id}`, limit: 100 }))),
    );
    held = new Set(ids.filter((_, i) => !pages[i]!.data.some(beginsHold)));
  }
  if (held.size === 0) return [];
  return (await firstPage(store.pets.list({ id: [...held], limit: MOST }))).data;
}

const isHeld = ({ quantity }: InventoryItem): boolean => quantity > 0;

const beginsHold = ({ changes }: HistoryEntry): boolean =>
  changes.some(({ field, to }) => field === 'status' && to === 'pending');

/** What is to be done in the shop today, as far as the key may see and do it. Events keep it fresh (`overview.ts`). */
export function useToDo() {
  const session = useSession();
  const { store, can } = session;
  const today = useDay();
  const overdue = useQuery({
    queryKey: ['overview', 'due', 'before', today],
    queryFn: () => readDue(session, { to: addDays(today, -1) }),
    staleTime: 0,
    enabled: can('orders:read'),
  });
  const shipping = useQuery({
    queryKey: ['overview', 'due', 'on', today],
    queryFn: () => readDue(session, { from: today, to: today }),
    staleTime: 0,
    enabled: can('orders:read'),
  });
  const holds = useQuery({
    queryKey: ['overview', 'holds', today],
    queryFn: () => readOldHolds(store, today),
    staleTime: 0,
    enabled: can('pets:read') && can('inventory:read') && can('events:read'),
  });
  const webhooks = useQuery({
    queryKey: ['overview', 'webhooks'],
    queryFn: async () =>
      (await firstPage(store.webhooks.list({ limit: 100 }))).data.filter(
        ({ enabled, failingSince, disabledReason }) => (enabled ? failingSince : disabledReason) !== null,
      ),
    staleTime: 0,
    enabled: can('admin'),
  });
  const hasAnimals = useQuery({
    queryKey: ['overview', 'animals'],
    queryFn: async () => (await store.pets.list({ limit: 1 }).first()) !== undefined,
    staleTime: 0,
    enabled: can('pets:read'),
  });
  const low = useLowStock();
  const planRequests = usePlanRequests();
  const queries = [overdue, shipping, holds, webhooks, planRequests, hasAnimals, useCategoriesQuery()];
  const all = [...queries, low];
  const found = [
    overdue.data?.orders,
    shipping.data?.orders,
    holds.data,
    webhooks.data,
    planRequests.data,
    low.items,
  ];
  const isDone = !found.some(items => items && items.length > 0);
  const isRead = !all.some(({ isLoading }) => isLoading);
  return {
    today,
    overdue: overdue.data,
    shipping: shipping.data,
    holds: holds.data,
    webhooks: webhooks.data,
    planRequests: planRequests.data,
    low: low.items,
    /** The latest stock of the animals that are or were low, by ID. */
    latestStock: low.latest,
    /** Whether all changes of stock were read. */
    knowsStock: low.isWhole,
    hasAnimals: hasAnimals.data ?? true,
    isDone,
    // An earlier visit may have found nothing to do.
    isReady: isRead && (!isDone || (queries.every(isFresh) && low.isFresh)),
    error: all.find(({ error }) => error)?.error,
  };
}

export type ToDo = ReturnType<typeof useToDo>;
