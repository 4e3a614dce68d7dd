import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useSession } from '../app/session.ts';

/** The item of a list that the user opened last. The cache keeps it as long as the list, so Back shows it again. */
export function useCurrent(resource: { name: string }, query: object) {
  const { cache } = useSession();
  const name = JSON.stringify(query);
  const { data = 0 } = useQuery({
    queryKey: [resource.name, 'current', name],
    queryFn: () => 0,
    initialData: 0,
  });
  const set = useCallback(
    (id: number) => cache.setQueryData([resource.name, 'current', name], id),
    [cache, resource, name],
  );
  return [data || undefined, set] as const;
}
