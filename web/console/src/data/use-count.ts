import { PreconditionError } from '@petstore/client';
import { useCallback } from 'react';
import { useSession } from '../app/session.ts';
import { useToasts } from '../kit/toasts.ts';
import { endsHold, holdAgain } from './hold.ts';
import { showStock } from './stock-of.ts';

/**
 * Returns a function that sets the stock of an animal to what was counted: an adjustment with this reason, of the difference to the stock
 * of now, which others may have changed since it was shown.
 */
export function useCount() {
  const { store, cache, can } = useSession();
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
          showStock(cache, after);
          const undo = async () => {
            // The opposite is no count.
            const opposite = { delta: -delta, reason: 'corrected' } as const;
            const undone = showStock(cache, await store.inventory.adjust(petId, opposite));
            showStock(cache, await holdAgain(store, before, after, undone));
          };
          const canUndo = !endsHold(before, units) || can('pets:write');
          if (delta !== 0)
            toasts.show({
              text: `${name}: ${units.toLocaleString()} counted`,
              undo: canUndo ? undo : undefined,
            });
          return;
        } catch (error) {
          if (!(error instanceof PreconditionError)) throw error;
        }
      }
    },
    [store, cache, can, toasts],
  );
}
