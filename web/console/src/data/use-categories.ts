import type { Category } from '@petstore/client';
import { useQuery } from '@tanstack/react-query';
import { useSession } from '../app/session.ts';
import { categories } from './categories.ts';

/** How many categories a menu offers: a longer one cannot be used. */
const MOST = 500;

/** Always the same, so that nothing is drawn again. */
const none: Category[] = [];

/** Returns the categories for menus and names, by name. */
export function useCategories(): Category[] {
  return useCategoriesQuery().data ?? none;
}

/** Whether the shop has no category, which an animal needs. */
export function useLacksCategories(): boolean {
  return useCategoriesQuery().data?.length === 0;
}

/** The same, with whether they are being read. */
export function useCategoriesQuery() {
  const { store, can } = useSession();
  return useQuery({
    queryKey: [categories.name, 'all'],
    queryFn: async () => {
      const all: Category[] = [];
      for await (const category of store.categories.list({ limit: 100 })) {
        all.push(category);
        if (all.length === MOST) break;
      }
      return all.sort((a, b) => a.name.localeCompare(b.name));
    },
    enabled: can('pets:read'),
    // Lists that name categories are drawn again only for other names.
    structuralSharing: true,
  });
}
