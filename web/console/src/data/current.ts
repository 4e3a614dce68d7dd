import { useQuery } from '@tanstack/react-query';
import { useSession } from '../app/session.ts';

/**
 * The item of a list that the user opened last, and how a row opens. The cache keeps the item as long as the list, so Back shows it
 * again. `open` leads to the panel of an item by its ID.
 */
export function useCurrent<T>(
  resource: { name: string; idOf(item: T): number },
  query: object,
  open: (id: string) => unknown,
) {
  const { cache } = useSession();
  const queryKey = [resource.name, 'current', JSON.stringify(query)];
  const { data = 0 } = useQuery({ queryKey, queryFn: () => 0, initialData: 0, meta: { isOfTab: true } });
  return {
    idOf: resource.idOf,
    current: data || undefined,
    onOpen: (item: T) => {
      const id = resource.idOf(item);
      cache.setQueryData(queryKey, id);
      open(String(id));
    },
  };
}
