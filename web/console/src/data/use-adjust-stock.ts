import type { InventoryItem } from '@petstore/client';
import { useCallback } from 'react';
import { useSession } from '../app/session.ts';
import { showToast } from '../kit/toasts.ts';
import { putItem } from './list-cache.ts';
import { stock } from './stock.ts';

/**
 * Adds units to the stock of a pet, or removes them with a negative number. The units of other clients count as well, so it needs
 * no version. To undo it, the opposite is sent.
 */
export function useAdjustStock() {
  const { store, cache } = useSession();
  return useCallback(
    async (item: InventoryItem, delta: number, done: string): Promise<void> => {
      const send = async (units: number) =>
        putItem(cache, stock, await store.inventory.adjust(item.petId, { delta: units }));
      putItem(cache, stock, { ...item, quantity: Math.max(0, item.quantity + delta) });
      try {
        await send(delta);
      } catch (error) {
        putItem(cache, stock, item);
        throw error;
      }
      showToast({ text: done, undo: () => send(-delta) });
    },
    [store, cache],
  );
}
