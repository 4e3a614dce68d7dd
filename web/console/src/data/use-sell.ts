import { ApiError } from '@petstore/client';
import { useCallback } from 'react';
import { useSession } from '../app/session.ts';
import { showToast } from '../kit/toasts.ts';

/** Returns a function that sells units of a pet with one request. Rejects with the service's error if there are not so many. */
export function useSell() {
  const { store, can } = useSession();
  return useCallback(
    async ({ id, name }: { id: number; name: string }, units: number): Promise<void> => {
      try {
        await store.orders.create({ petId: id, quantity: units, complete: true });
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'insufficient_stock' && can('inventory:read')))
          throw error;
        const { quantity } = await store.inventory.get(id);
        throw new Error(`Only ${quantity.toLocaleString()} in stock: sell fewer, or restock it first`, {
          cause: error,
        });
      }
      // A completed order stays: the units that come back are a change of their own.
      const undo = () => store.inventory.adjust(id, { delta: units, reason: 'returned' });
      showToast({
        text: `Sold ${units.toLocaleString()} of ${name}`,
        undo: can('inventory:write') ? undo : undefined,
      });
    },
    [store, can],
  );
}
