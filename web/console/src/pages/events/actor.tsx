import { useQuery } from '@tanstack/react-query';
import { useSession } from '../../app/session.ts';
import { keys } from '../../data/keys.ts';

/** Who made a change, as an event has it. Administrators see the name of the key, others its ID. */
export function Actor({ actor }: { actor: string }) {
  const { store, account, can } = useSession();
  const id = Number(/^keys\/(\d+)$/.exec(actor)?.[1]);
  const isKey = !Number.isNaN(id);
  const { data: name } = useQuery({
    queryKey: [keys.name, 'name', id],
    queryFn: async () => (await store.keys.get(id)).name,
    enabled: isKey && id !== account.keyId && can('admin'),
  });
  if (!isKey) return actor === 'system' ? 'The service' : actor;
  if (id === account.keyId) return `${account.name} (this key)`;
  return name ?? `Key ${id}`;
}
