import type { ApiKey } from '@petstore/client';
import { useEffect, useMemo } from 'react';
import { useSession } from '../app/session.ts';
import { useToasts } from '../kit/toasts.ts';
import { idOf } from './id-of.ts';
import { keys } from './keys.ts';
import { putItem } from './list-cache.ts';
import { useEvents } from './use-events.ts';

/** How often banned keys are read again, in milliseconds: no event reports that a ban has ended. */
const BAN_PAUSE = 30_000;

/**
 * Keeps the bans of keys fresh in the lists and in an open panel. An event of a ban has no key in it, and a ban that ends by
 * itself has no event.
 */
export function useFreshBans(rows: readonly ApiKey[]): void {
  const refresh = useRefreshKey();
  const toasts = useToasts();
  const banned = useMemo(
    () =>
      rows
        .filter(({ ban }) => ban)
        .map(({ id }) => id)
        .join(),
    [rows],
  );
  useEvents(event => {
    // The replica that has changed a key may not have seen its ban, which the event then lacks.
    const mayHideBan = event.subject.startsWith('keys/') && banned.split(',').includes(`${idOf(event)}`);
    if (event.type === 'key.banned' || mayHideBan) refresh(idOf(event)).catch(toasts.showProblem);
  });
  useEffect(() => {
    if (!banned) return;
    const timer = setInterval(() => {
      for (const id of banned.split(',')) refresh(Number(id)).catch(toasts.showProblem);
    }, BAN_PAUSE);
    return () => clearInterval(timer);
  }, [banned, refresh, toasts]);
}

/** Returns a function that reads a key again, for the lists, an open panel and its plot. */
export function useRefreshKey(): (id: number) => Promise<void> {
  const { store, cache } = useSession();
  return useMemo(
    () => async id => {
      const key = await store.keys.get(id);
      putItem(cache, keys, key);
      await Promise.all(
        ['one', 'usage'].map(part => cache.invalidateQueries({ queryKey: [keys.name, part, id] })),
      );
    },
    [store, cache],
  );
}
