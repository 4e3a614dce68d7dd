import { AuthenticationError, PetStore, type Wait } from '@petstore/client';
import { QueryClient } from '@tanstack/react-query';
import { type LiveLayer, startLiveLayer } from '../data/live.ts';
import { closeToasts } from '../kit/toasts.ts';
import type { Scope, Session } from './session.ts';

/** Only this tab has the key, and only until the tab closes. */
const STORED = 'petstore.console.key';

/**
 * Starts a session with an API key. Rejects with the service's error if the key is not valid. With `onWait` it waits as long as the
 * service cannot be reached, and reports that; otherwise it rejects.
 */
export async function signIn(apiKey: string, onWait?: (wait: Wait) => void): Promise<Session> {
  const response = listeners<[]>();
  const ending = listeners<[reason?: string]>();
  const report = () => response.call();
  const store = new PetStore({
    baseUrl: location.origin,
    apiKey,
    // What a user started continues by itself, however long the wait. The banner shows it.
    maxWait: Number.POSITIVE_INFINITY,
    maxRetries: Number.POSITIVE_INFINITY,
    onWait: wait => {
      onWait?.(wait);
      report();
    },
    fetch: async (url, init) => {
      try {
        const received = await fetch(url, init);
        if (received.status === 401)
          end('The API key is no longer valid: it was revoked, rotated or has expired');
        return received;
      } finally {
        // The client reads the limits after the response arrived.
        setTimeout(report);
      }
    },
  });
  let live: LiveLayer | undefined;
  const account = await store.account.get(onWait ? {} : { maxRetries: 0 });
  const can = (scope: Scope) => account.scopes.includes('admin') || account.scopes.includes(scope);
  const cache = newCache();
  live = startLiveLayer(store, cache, account);
  sessionStorage.setItem(STORED, apiKey);

  function end(reason?: string): void {
    sessionStorage.removeItem(STORED);
    live?.end();
    // The next user must not undo what this one did, with the key of this one.
    closeToasts();
    ending.call(reason);
  }
  const signOut = () => {
    // With what was typed: the next user of the tab must not see it.
    sessionStorage.clear();
    cache.clear();
    end();
  };
  return { store, account, cache, live, can, onResponse: response.add, onEnd: ending.add, signOut };
}

function listeners<Args extends unknown[]>() {
  const all = new Set<(...args: Args) => void>();
  return {
    call: (...args: Args) => {
      for (const listener of all) listener(...args);
    },
    add: (listener: (...args: Args) => void) => {
      all.add(listener);
      return () => {
        all.delete(listener);
      };
    },
  };
}

/**
 * Returns the session of this tab, or starts one with the ticket of the first start, which is in the fragment. Returns
 * `undefined` if the user has to sign in. While the service cannot be reached it waits, and reports that.
 */
export async function resume(onWait: (wait: Wait) => void): Promise<Session | undefined> {
  const stored = sessionStorage.getItem(STORED);
  const ticket = /^#sign-in=(\w+)$/.exec(location.hash)?.[1];
  if (ticket) {
    // The ticket does not stay in the history.
    history.replaceState(null, '', location.pathname + location.search);
    const key = await redeem(ticket).catch(error => {
      // The link was opened again where it has signed in.
      if (stored === null) throw error;
      return stored;
    });
    return signIn(key, onWait);
  }
  if (stored === null) return undefined;
  return signIn(stored, onWait).catch(error => {
    if (error instanceof AuthenticationError) sessionStorage.removeItem(STORED);
    throw error;
  });
}

async function redeem(ticket: string): Promise<string> {
  const response = await fetch('/console/sign-in', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ticket }),
  });
  const body = await response.json();
  if (!response.ok) throw new Error(body.message);
  return body.key;
}

/** The live layer keeps the cache fresh, so nothing is read again by itself. The client has its own retries. */
function newCache(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: Number.POSITIVE_INFINITY,
        gcTime: 5 * 60_000,
        retry: false,
        // The client waits for the connection by itself.
        networkMode: 'always',
        structuralSharing: false,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
}
