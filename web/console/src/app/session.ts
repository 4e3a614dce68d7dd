import type { Account, Event, PetStore } from '@petstore/client';
import type { QueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import type { LiveLayer } from '../data/live.ts';
import type { Toasts } from '../kit/toasts.ts';

export type Scope = Account['scopes'][number];

/** A kind of resource that events are about: the first part of their types. */
type EventResource = Event['type'] extends `${infer Resource}.${string}` ? Resource : never;

/**
 * The scope that the events of each resource need, in addition to `events:read`. A key with none of these scopes may read no
 * events.
 */
export const eventScopes: Readonly<Record<EventResource, Scope>> = {
  pet: 'pets:read',
  category: 'pets:read',
  order: 'orders:read',
  inventory: 'inventory:read',
  log: 'events:read',
  key: 'admin',
  webhook: 'admin',
  access: 'admin',
  service: 'admin',
};

/** Returns the function `can` of a session whose key has these scopes. */
export function permissionsOf(scopes: readonly Scope[]): Session['can'] {
  if (scopes.includes('admin')) return () => true;
  const readsEvents = Object.values(eventScopes).some(
    scope => scope !== 'events:read' && scopes.includes(scope),
  );
  return scope => scopes.includes(scope) && (scope !== 'events:read' || readsEvents);
}

/** A signed-in user: the client with the API key, what the key may do, the cache of what was read, and the messages about what was done. */
export interface Session {
  store: PetStore;
  account: Account;
  cache: QueryClient;
  toasts: Toasts;
  live: LiveLayer;
  /** Whether the key has a scope that allows something. Actions that need another one are not offered. */
  can: (scope: Scope) => boolean;
  /** Calls the listener after each response: the limits may have changed. Returns a function that ends this. */
  onResponse: (listener: () => void) => () => void;
  /**
   * Calls the listener when the session ends, or at once if it has ended: the user signed out, or the key is no longer valid, which is
   * the reason. Returns a function that ends this.
   */
  onEnd: (listener: (reason?: string) => void) => () => void;
  signOut: () => void;
}

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('There is no session: render this below SessionContext');
  return session;
}
