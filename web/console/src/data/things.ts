import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useSession } from '../app/session.ts';
import { keepNames } from './pet-names.ts';
import { pets, searchPets } from './pets.ts';
import { firstPage } from './resource.ts';
import { ACTIVITY } from './use-activity.ts';
import { useCategories } from './use-categories.ts';

/** A thing whose history can be shown. */
interface Thing {
  subject: string;
  name: string;
  kind: 'Animal' | 'Category' | 'Deleted animal' | 'Deleted category';
}

/** How many things of a kind are suggested. */
const MOST = 8;

/** How many deletions of a kind are searched, the newest ones. */
const DELETIONS = 1_000;

const deletions = [
  ['pet.deleted', 'Deleted animal'],
  ['category.deleted', 'Deleted category'],
] as const;

const none: never[] = [];

/** Returns what was deleted, the newest first. The log has the names, which nothing else knows. */
export function useDeletedThings(isNeeded: boolean): readonly Thing[] {
  const { store, can } = useSession();
  const { data = none } = useQuery({
    queryKey: [ACTIVITY, 'deleted'],
    queryFn: async ({ signal }) => {
      const read = async ([type, kind]: (typeof deletions)[number]): Promise<Thing[]> => {
        const { data } = await firstPage(store.events.history({ type, limit: DELETIONS }, { signal }));
        return data.map(({ subject, name }) => ({ subject, name: name ?? subject, kind }));
      };
      return (await Promise.all(deletions.map(read))).flat();
    },
    enabled: isNeeded && can('pets:read'),
    // Each search has what was deleted since the one before.
    staleTime: 0,
  });
  return data;
}

/** Returns animals, categories and deleted things that have the words of `text` in their names; nothing without a text. */
export function useThings(text: string | undefined): { things: readonly Thing[]; isPending: boolean } {
  const { store, cache, can } = useSession();
  const isNeeded = text !== undefined && text !== '';
  const categories = useCategories();
  const deleted = useDeletedThings(isNeeded);
  const {
    data: animals = none,
    isPending,
    isPlaceholderData,
  } = useQuery({
    queryKey: [pets.name, 'things', text],
    queryFn: async ({ signal }): Promise<readonly Thing[]> => {
      const { data } = await firstPage(searchPets(store, { q: text!, limit: MOST }, { signal }));
      keepNames(cache, data);
      return data.map(({ id, name }) => ({ subject: `pets/${id}`, name, kind: 'Animal' }));
    },
    enabled: isNeeded && can('pets:read'),
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  });
  const matches = (things: readonly Thing[]) =>
    isNeeded ? things.filter(({ name }) => hasWords(name, text)).slice(0, MOST) : none;
  const ofCategories = categories.map(({ id, name }) => ({
    subject: `categories/${id}`,
    name,
    kind: 'Category' as const,
  }));
  return {
    things: isNeeded ? [...animals, ...matches(ofCategories), ...matches(deleted)] : none,
    isPending: isPending || isPlaceholderData,
  };
}

/** Whether words of a name begin with the words of a text, whatever their accents and case are. */
function hasWords(name: string, text: string): boolean {
  const words = wordsOf(name);
  return wordsOf(text).every(part => words.some(word => word.startsWith(part)));
}

function wordsOf(text: string): string[] {
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase().split(/\s+/).filter(Boolean);
}
