import type { Pet } from '@petstore/client';
import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { pets, searchPets } from '../data/pets.ts';
import { firstPage } from '../data/resource.ts';
import { readStock, useStockOf } from '../data/stock-of.ts';
import { leadsBack } from '../kit/close.ts';
import type { IconName } from '../kit/icon.tsx';
import { TYPING_PAUSE } from '../kit/search-field.tsx';
import { statusNames } from '../kit/status-names.ts';
import { missingScope, pages } from './pages.ts';
import { type Session, useSession } from './session.ts';
import { theme, themes } from './theme.ts';

/** How many pets are shown. */
const MOST_PETS = 6;

/** What the palette offers. */
export interface Command {
  id: string;
  /** Its heading in the list. */
  group: 'Pages' | 'Actions' | 'Animals' | 'Orders';
  icon: IconName;
  title: string;
  hint?: string;
  run: () => void;
}

type Go = (path: string, state?: typeof leadsBack) => void;

/** What opens above the page. */
interface Overlays {
  onHelp: () => void;
  onSell: () => void;
}

/** Returns what matches the text: pages and actions at once, and pets when the service has found them. */
export function useCommands(text: string, overlays: Overlays) {
  const session = useSession();
  const router = useRouter();
  // By its address, because a command leads to any page.
  const go: Go = (path, state) => router.history.push(`/console${path}`, state);
  const words = text.trim().toLowerCase().split(/\s+/);
  const matches = ({ title }: Command) => words.every(word => title.toLowerCase().includes(word));
  const found = usePets(text.trim());
  const { entries } = useStockOf(useMemo(() => found.data.map(({ id }) => id), [found.data]));
  function factsOf({ id, status = 'available' }: Pet): string {
    const stock = entries.get(id)?.quantity;
    return [stock !== undefined && `${stock.toLocaleString()} in stock`, statusNames[status], `ID ${id}`]
      .filter(Boolean)
      .join(' · ');
  }
  const commands = [
    ...[...pageCommands(session, go), ...actionCommands(session, go, overlays)].filter(matches),
    ...orderCommands(session, text.trim(), go),
    ...found.data.map(
      (pet): Command => ({
        id: `pet-${pet.id}`,
        group: 'Animals',
        icon: 'paw',
        title: pet.name,
        hint: factsOf(pet),
        run: () => go(`/animals/${pet.id}`, leadsBack),
      }),
    ),
  ];
  return { commands, isSearching: found.isSearching };
}

function pageCommands({ can }: Session, go: Go): Command[] {
  return pages
    .filter(({ scope }) => !scope || can(scope))
    .map(({ path, title, icon }) => ({ id: path, group: 'Pages', icon, title, run: () => go(path) }));
}

function actionCommands({ can, signOut }: Session, go: Go, { onHelp, onSell }: Overlays): Command[] {
  const action = (icon: IconName, title: string, run: () => void): Command => ({
    // An ID with spaces would be several.
    id: title.replaceAll(/\W+/g, '-'),
    group: 'Actions',
    icon,
    title,
    run,
  });
  const creation = (title: string, path: string) =>
    missingScope(path, can) === undefined ? [action('add', title, () => go(path))] : [];
  return [
    ...creation('Add animal', '/animals/new'),
    ...creation('Add category', '/categories/new'),
    ...creation('Place order', '/orders/new'),
    ...(can('orders:write') && can('pets:read') ? [action('orders', 'Sell', onSell)] : []),
    ...creation('Add webhook', '/webhooks/new'),
    ...creation('Create key', '/keys/new'),
    ...themes.map(choice => action('sun', `Theme: ${choice}`, () => theme.write(choice))),
    action('key', 'This key: limits and plan', () => go('/account')),
    action('command', 'Keyboard shortcuts', onHelp),
    action('user', 'Sign out', signOut),
  ];
}

/** An order has no name: its ID leads to it. The page shows whether it exists. */
function orderCommands({ can }: Session, text: string, go: Go): Command[] {
  const id = /^(?:order\s*)?#?(\d{1,15})$/i.exec(text)?.[1];
  if (id === undefined || !can('orders:read')) return [];
  const run = () => go(`/orders/${Number(id)}`, leadsBack);
  return [{ id: `order-${id}`, group: 'Orders', icon: 'orders', title: `Order ${Number(id)}`, run }];
}

const none: Pet[] = [];

function usePets(text: string) {
  const session = useSession();
  const { store, can } = session;
  const [q, setQ] = useState('');
  useEffect(() => {
    const timer = setTimeout(setQ, TYPING_PAUSE, text);
    return () => clearTimeout(timer);
  }, [text]);
  const isAsked = q !== '' && can('pets:read');
  const { data, isFetching } = useQuery({
    queryKey: [pets.name, 'palette', q],
    queryFn: async ({ signal }) => {
      const found = (await firstPage(searchPets(store, { q, limit: MOST_PETS }, { signal }))).data.slice(
        0,
        MOST_PETS,
      );
      await readStock(session, found, signal);
      return found;
    },
    enabled: isAsked,
    staleTime: 0,
    gcTime: 0,
    // The pets of the last text stay until those of the next one arrive: nothing flickers while the user types.
    placeholderData: previous => previous,
  });
  return {
    data: text !== '' && isAsked ? (data ?? none) : none,
    /** Whether the pets are not yet those of the text. */
    isSearching: can('pets:read') && (isFetching || text !== q),
  };
}
