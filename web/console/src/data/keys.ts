import type { ApiKey, NewApiKey } from '@petstore/client';
import { useEffect, useMemo } from 'react';
import { useSession } from '../app/session.ts';
import { showProblem } from '../kit/toasts.ts';
import { filled } from './lines.ts';
import { putItem } from './list-cache.ts';
import type { Resource } from './resource.ts';

export const plans = ['free', 'pro', 'business', 'enterprise'] as const;

export const planNames: Record<ApiKey['plan'], string> = {
  free: 'Free',
  pro: 'Pro',
  business: 'Business',
  enterprise: 'Enterprise',
};

export const scopes = [
  'pets:read',
  'pets:write',
  'orders:read',
  'orders:write',
  'inventory:read',
  'inventory:write',
  'events:read',
  'webhooks:write',
  'admin',
] as const;

/** The most that a publishable key may do. */
export const publishableScopes: readonly ApiKey['scopes'][number][] = ['pets:read', 'inventory:read'];

export interface KeyQuery {
  name?: string | undefined;
  plan?: ApiKey['plan'] | undefined;
  /** Keys that work are shown without it. */
  show?: 'revoked' | 'all' | undefined;
}

const isRevoked = { revoked: true, all: undefined };

export const keys: Resource<ApiKey, KeyQuery> = {
  name: 'key',
  idOf: key => key.id,
  list: (store, { show, ...query }) => store.keys.list({ ...query, revoked: show ? isRevoked[show] : false }),
  read: (store, id) => store.keys.get(id).withResponse(),
  create: (store, key) => store.keys.create(key as NewApiKey),
  update: (store, id, { origins, ...patch }, options) =>
    store.keys.update(id, { ...patch, ...(origins && { origins: filled(origins) }) }, options),
  remove: (store, id) => store.keys.revoke(id),
  matches: (key, { name = '', plan, show }) =>
    key.name.toLowerCase().startsWith(name.toLowerCase()) &&
    (plan === undefined || key.plan === plan) &&
    (show === 'all' || (key.revokedAt !== null) === (show === 'revoked')),
};

/** How often banned keys are read again, in milliseconds: no event reports that a ban has ended. */
const BAN_PAUSE = 30_000;

/**
 * Keeps the bans of keys fresh in the lists and in an open panel. An event of a ban has no key in it, and a ban that ends by
 * itself has no event.
 */
export function useFreshBans(rows: readonly ApiKey[]): void {
  const refresh = useRefreshKey();
  const { live } = useSession();
  const banned = useMemo(
    () =>
      rows
        .filter(({ ban }) => ban)
        .map(({ id }) => id)
        .join(),
    [rows],
  );
  useEffect(
    () =>
      live.onEvent(({ type, subject }) => {
        if (type === 'key.banned') refresh(idOfSubject(subject)).catch(showProblem);
      }),
    [live, refresh],
  );
  useEffect(() => {
    if (!banned) return;
    const timer = setInterval(() => {
      for (const id of banned.split(',')) refresh(Number(id)).catch(showProblem);
    }, BAN_PAUSE);
    return () => clearInterval(timer);
  }, [banned, refresh]);
}

/** The ID in the subject of an event, such as `keys/12`. */
function idOfSubject(subject: string): number {
  return Number(subject.split('/').at(-1));
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
