import { useCallback } from 'react';
import { useSession } from '../app/session.ts';
import { useToasts } from '../kit/toasts.ts';
import { addItem } from './list-cache.ts';
import { adjustOnce, noteOfReturn, returnedOf } from './open-again.ts';
import { orders } from './orders.ts';
import { withReason } from './refusal.ts';
import { showOrdered } from './stock-of.ts';

/** Returns a function that sells units of a pet with one request. Rejects with the reason if they cannot be sold. */
export function useSell() {
  const session = useSession();
  const toasts = useToasts();
  return useCallback(
    async ({ id, name }: { id: number; name: string }, units: number): Promise<void> => {
      const { store, can } = session;
      const sale = await withReason(
        session,
        id,
        store.orders.create({ petId: id, quantity: units, complete: true }),
      );
      addItem(session.cache, orders, sale);
      showOrdered(session, [sale]);
      // A completed order stays: the units that come back are a change of their own.
      const returned = { delta: units, reason: 'returned', note: noteOfReturn(sale.id) } as const;
      const isReturned = async () => (await returnedOf(session, [sale])).length > 0;
      const undo = async () => {
        await adjustOnce(session, id, returned, isReturned);
      };
      toasts.show({
        text: `Sold ${units.toLocaleString()} of ${name}`,
        undo: can('inventory:write') ? undo : undefined,
      });
    },
    [session, toasts],
  );
}
