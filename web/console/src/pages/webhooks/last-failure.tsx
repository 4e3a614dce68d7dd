import { useQuery } from '@tanstack/react-query';
import { useSession } from '../../app/session.ts';
import { firstPage } from '../../data/resource.ts';
import { deliveries } from '../../data/webhooks.ts';
import { attemptInWords } from './attempt-in-words.ts';

/** How the latest attempt for the oldest waiting delivery failed. Newer ones may wait for it without an attempt. */
export function LastFailure({ id }: { id: number }) {
  const { store } = useSession();
  const { data } = useQuery({
    queryKey: [deliveries.name, 'failure', id],
    queryFn: async () => {
      const list = store.webhooks.listDeliveries(id, { status: 'pending', sort: 'id', limit: 1 });
      const [oldest] = (await firstPage(list)).data;
      return (oldest && (await store.webhooks.getDelivery(id, oldest.id)).attempts.at(-1)) ?? null;
    },
    gcTime: 0,
  });
  return (
    <p className="last-failure">
      {data ? `${attemptInWords(data)}${data.error ? `: ${data.error}` : ''}` : 'The deliveries show why.'}
    </p>
  );
}
