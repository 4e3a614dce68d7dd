import type { Order } from '@petstore/client';
import { notifyManager } from '@tanstack/react-query';
import { useCallback } from 'react';
import { type Session, useSession } from '../app/session.ts';
import { askingToLeave } from '../kit/asking-to-leave.ts';
import { useToasts } from '../kit/toasts.ts';
import { type ItemResult, runInBatches } from './batches.ts';
import { putResult } from './changes.ts';
import { addItem, putBack, putItem, removeItem } from './list-cache.ts';
import {
  contentOf,
  keyToPlaceAgain,
  placedAgainOf,
  placedEarlier,
  returnedOf,
  TAKEN_BACK,
  unitsBack,
} from './open-again.ts';
import { orders as resource } from './orders.ts';
import { showOrdered } from './stock-of.ts';

export type OrderWork = 'complete' | 'cancel';

const doneVerbs: Record<OrderWork, string> = { complete: 'Completed', cancel: 'Cancelled' };

/** `order 12`, or `20 orders`. */
export function ordersInWords(orders: readonly Order[]): string {
  const [first] = orders;
  return orders.length === 1 ? `order ${first?.id}` : `${orders.length.toLocaleString()} orders`;
}

/** Whether the work on orders can be undone. The units of a completed order come back to the stock. */
export function isUndoable(work: OrderWork, can: Session['can']): boolean {
  return work === 'cancel' || can('inventory:write');
}

/**
 * Returns a function that completes or cancels orders. The lists show it before the service has confirmed it. It resolves with the orders
 * that were done: what the service rejects is shown as before, and the reason is reported. `onUndone` gets the orders that undo has placed
 * instead of them.
 */
export function useOrderWork() {
  const session = useSession();
  const toasts = useToasts();
  return useCallback(
    async (
      orders: readonly Order[],
      work: OrderWork,
      onUndone?: (placed: ReadonlyMap<Order, Order>) => void,
    ): Promise<Order[]> => {
      const { cache, can } = session;
      const shown = new Map(
        orders.map(order => [order, work === 'complete' ? { ...order, complete: true } : order]),
      );
      notifyManager.batch(() => {
        for (const order of shown.values()) putItem(cache, resource, order);
      });
      const done: Order[] = [];
      const errors: string[] = [];
      function onResults(items: readonly ItemResult<Order>[]): void {
        for (const { item, results, error } of items) {
          if (error !== undefined) {
            errors.push(error);
            // Another user has cancelled it.
            if (results[0]?.error?.code === 'order_not_found')
              removeItem(cache, resource, resource.idOf(item));
          } else {
            const completed = results[0]?.body as Order | undefined;
            done.push(completed ? withChanges(item, completed) : item);
            if (completed) putResult(session, resource, completed, shown.get(item)!);
            else removeItem(cache, resource, resource.idOf(item));
          }
        }
      }
      try {
        await askingToLeave(() =>
          runInBatches(session, orders, {
            add: (batch, { id = 0 }) => [
              work === 'complete' ? batch.orders.update(id, { complete: true }) : batch.orders.cancel(id),
            ],
            perItem: 1,
            onResults: items => notifyManager.batch(() => onResults(items)),
          }),
        );
      } catch (error) {
        toasts.showProblem(error);
      }
      showOrdered(session, done);
      notifyManager.batch(() => {
        for (const [order, changed] of shown) putBack(cache, resource, order, changed);
      });
      if (done.length > 0)
        toasts.show({
          text: `${doneVerbs[work]} ${ordersInWords(done)}`,
          undo: isUndoable(work, can) ? () => placeAgain(session, done, work, onUndone) : undefined,
        });
      const [reason] = errors;
      if (reason !== undefined)
        toasts.showProblem(
          orders.length === 1
            ? reason
            : `${errors.length} of ${orders.length} orders stay as they were: ${reason}`,
        );
      return done;
    },
    [session, toasts],
  );
}

/** Another user may have changed an order since it was shown. Its completion gives it a ship date if it has none. */
function withChanges(shown: Order, { petId, quantity, shipDate }: Order): Order {
  return {
    ...shown,
    petId: petId!,
    quantity: quantity!,
    ...(shown.shipDate !== undefined && { shipDate: shipDate! }),
  };
}

/** A completed order never opens again, and a cancelled one is gone: to undo it, the same is ordered again. */
async function placeAgain(
  session: Session,
  orders: readonly Order[],
  work: OrderWork,
  onUndone?: (placed: ReadonlyMap<Order, Order>) => void,
): Promise<string> {
  const takenBack = work === 'complete' ? await returnedOf(session, orders) : [];
  const earlier = new Map(work === 'cancel' ? await placedAgainOf(session, orders) : []);
  const left = orders.filter(order => !takenBack.includes(order) && !earlier.has(order));
  const placed = new Map<Order, Order>();
  const errors = takenBack.map(() => TAKEN_BACK);
  function add(item: Order, order: Order): void {
    placed.set(item, order);
    addItem(session.cache, resource, order);
  }
  try {
    await runInBatches(session, left, {
      add: (batch, order) => [
        ...(work === 'complete' ? unitsBack(batch, order) : []),
        batch.orders.create(contentOf(order)),
      ],
      perItem: 2,
      // Also in one batch because units that come back without their order would be sold again.
      keyOf: order => keyToPlaceAgain(resource.idOf(order)),
      onResults: items =>
        notifyManager.batch(() => {
          for (const { item, results, error, isReplayed } of items) {
            const order = results.at(-1)?.body as Order;
            if (error !== undefined) errors.push(error);
            else if (isReplayed) earlier.set(item, order);
            else add(item, order);
          }
        }),
    });
  } finally {
    for (const [item, order] of earlier)
      await placedEarlier(session, order).then(
        now => add(item, now),
        (error: Error) => errors.push(error.message),
      );
    onUndone?.(placed);
    showOrdered(session, [...placed.values()]);
  }
  const [reason] = errors;
  if (reason !== undefined)
    throw new Error(`${errors.length} of ${orders.length} orders could not be opened again: ${reason}`);
  const words = ordersInWords([...placed.values()]);
  return `Open again as ${placed.size === 1 ? words : `${words} with new numbers`}`;
}
