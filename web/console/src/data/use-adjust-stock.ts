import type { InventoryItem, StockAdjustment } from '@petstore/client';
import { useCallback } from 'react';
import { useSession } from '../app/session.ts';
import { useToasts } from '../kit/toasts.ts';
import { putResult } from './changes.ts';
import { holdAgain } from './hold.ts';
import { putBack } from './list-cache.ts';
import { stock } from './stock.ts';
import { showStock } from './stock-of.ts';

/** Why units are added or removed: part of the history. */
export type Why = Pick<StockAdjustment, 'reason' | 'note'>;

/**
 * Adds units to the stock of a pet, or removes them with a negative number. The units of other clients count as well, so it needs
 * no version. To undo it, the opposite is sent; what was changed without a reason, one after the other, is undone together. `canUndo` is
 * `false` if the user was asked before.
 */
export function useAdjustStock() {
  const session = useSession();
  const { store, cache } = session;
  const toasts = useToasts();
  return useCallback(
    async (item: InventoryItem, name: string, delta: number, canUndo: boolean, why?: Why): Promise<void> => {
      const show = (item: InventoryItem) => showStock(cache, item);
      const send = async (adjustment: StockAdjustment) =>
        show(await store.inventory.adjust(item.petId, adjustment));
      const shown = { ...item, quantity: Math.max(0, item.quantity + delta) };
      show(shown);
      let changed: InventoryItem;
      try {
        changed = await store.inventory.adjust(item.petId, { delta, ...why });
        putResult(session, stock, changed, shown);
      } catch (error) {
        putBack(cache, stock, item, shown);
        throw error;
      }
      const message = (delta: number) => {
        const undo = async () => show(await holdAgain(store, item, changed, await send({ delta: -delta })));
        return {
          text: `${name}: ${Math.abs(delta).toLocaleString()} ${delta > 0 ? 'added' : 'removed'}`,
          undo: canUndo ? undo : undefined,
        };
      };
      // A change of the status, or one with a reason, is undone by itself.
      if (why || changed.status !== item.status) toasts.show(message(delta));
      else toasts.showSteps(`stock of ${item.petId}`, delta, message);
    },
    [session, store, cache, toasts],
  );
}
