import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useSession } from '../app/session.ts';
import { activitiesOf, mayBelongTo } from './activity.ts';
import { pets } from './pets.ts';
import { firstPage } from './resource.ts';
import { useEvents } from './use-events.ts';

/** How many open orders and changes are shown. The pages of orders and activity have all. */
export const MOST = 10;

/** The stock, the open orders and the latest changes of a pet, as far as the key may read them. Events of the pet keep them fresh. */
export function useAnimal(petId: number) {
  const { store, cache, can } = useSession();
  const key = (part: string) => [pets.name, 'of', petId, part];
  const stock = useQuery({
    queryKey: key('stock'),
    queryFn: () => store.inventory.get(petId),
    enabled: can('inventory:read'),
    gcTime: 0,
  });
  const orders = useQuery({
    queryKey: key('orders'),
    queryFn: async () => (await firstPage(store.orders.list({ petId, complete: false, limit: MOST }))).data,
    enabled: can('orders:read'),
    gcTime: 0,
  });
  const changes = useQuery({
    queryKey: key('changes'),
    queryFn: async () => {
      const query = { subject: `pets/${petId}`, related: true, limit: 2 * MOST };
      const { data } = await firstPage(store.events.history(query));
      return activitiesOf(data).slice(0, MOST);
    },
    enabled: can('events:read'),
    gcTime: 0,
  });
  const refresh = useCallback(
    () => void cache.invalidateQueries({ queryKey: [pets.name, 'of', petId] }),
    [cache, petId],
  );
  useEvents(event => {
    if (mayBelongTo(event, { subject: `pets/${petId}` })) refresh();
  });
  return { stock: stock.data, orders: orders.data, changes: changes.data, refresh };
}
