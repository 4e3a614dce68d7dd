import { PreconditionError } from '@petstore/client';
import { useCallback } from 'react';
import { useSession } from '../app/session.ts';
import { useToasts } from '../kit/toasts.ts';
import { putItem } from './list-cache.ts';
import { stock } from './stock.ts';
import { keepStock } from './stock-of.ts';

/**
 * Returns a function that sets the stock of an animal to what was counted: an adjustment with this reason, of the difference to the stock
 * of now, which others may have changed since it was shown.
 */
export function useCount() {
  const { store, cache } = useSession();
  const toasts = useToasts();
  return useCallback(
    async (petId: number, name: string, units: number): Promise<void> => {
      for (;;) {
        const { data: before, etag } = await store.inventory.get(petId).withResponse();
        const delta = units - before.quantity;
        try {
          const counted = { delta, reason: 'counted' } as const;
          const after =
            delta === 0 ? before : await store.inventory.adjust(petId, counted, { ifMatch: etag });
          putItem(cache, stock, after);
          keepStock(cache, [after]);
          // The opposite is no count.
          const undo = () => store.inventory.adjust(petId, { delta: -delta, reason: 'corrected' });
          if (delta !== 0) toasts.show({ text: `${name}: ${units.toLocaleString()} counted`, undo });
          return;
        } catch (error) {
          if (!(error instanceof PreconditionError)) throw error;
        }
      }
    },
    [store, cache, toasts],
  );
}
