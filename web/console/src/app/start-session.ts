import { AuthenticationError, errorOf, PetStore, VERSION, WaitTooLongError } from '@petstore/client';
import { QueryClient } from '@tanstack/react-query';
import { type LiveLayer, startLiveLayer } from '../data/live.ts';
import { newToasts } from '../kit/toasts.ts';
import { permissionsOf, type Session } from './session.ts';
import {
  askForSession,
  isShared,
  removeSession,
  type StoredSession,
  shareSession,
  storedSession,
  storeSession,
} from './stored-session.ts';

/** A session that begins, or one that this tab continues. */
type Start = Pick<StoredSession, 'key' | 'stays'> & Partial<StoredSession>;

/**
 * Starts a session with an API key. Rejects with the service's error if the key is not valid, and if another tab ends the session that this
 * one continues. The account that is known already is used while the service does not return it, for example because the page was loaded
 * more often in a minute than the service allows.
 */
export async function signIn({ key: apiKey, stays, account: known, id }: Start): Promise<Session> {
  const response = listeners<[]>();
  const ending = listeners<[reason?: string]>();
  /** How the session has ended, if it has. */
  let end: { reason: string | undefined } | undefined;
  const report = () => response.call();
  const store = new PetStore({
    baseUrl: location.origin,
    apiKey,
    // Browsers set `User-Agent` themselves.
    headers: { 'X-Petstore-Client': `petstore-console/${VERSION}` },
    // What a user started continues by itself, however long the wait. The banner shows it.
    maxWait: Number.POSITIVE_INFINITY,
    maxRetries: Number.POSITIVE_INFINITY,
    onWait: report,
    fetch: async (url, init) => {
      try {
        const received = await fetch(url, init);
        if (received.status === 401 && isRejection(errorOf(received, await received.clone().text(), url)))
          reject();
        return received;
      } finally {
        // The client reads the limits after the response arrived.
        setTimeout(report);
      }
    },
  });
  let live: LiveLayer | undefined;
  let endEverywhere: ReturnType<typeof shareSession> | undefined;
  // Without a wait: there is no page yet that could say why.
  const account = await store.account.get({ maxRetries: 0, maxWait: 0 }).catch(error => {
    if (known !== undefined && !isRejection(error)) return known;
    if (!(error instanceof WaitTooLongError)) throw error;
    const time = error.retryAt?.toLocaleTimeString();
    throw new Error(`This API key has started too many sessions. Sign in again after ${time}.`);
  });
  // Until it shares the session, this tab does not receive the end that another one sends.
  if (id !== undefined && !isShared(id)) throw new Error('Another tab has ended or replaced this session');
  const can = permissionsOf(account.scopes);
  const cache = newCache();
  const toasts = newToasts();
  live = startLiveLayer(store, cache, toasts, { keyId: account.keyId, isAllowed: can('events:read') });
  const shared: StoredSession = { id: id ?? newId(), key: apiKey, account, stays };
  endEverywhere = shareSession(shared, reason => (reason === undefined ? forget() : stop(reason)));
  storeSession(shared);

  function stop(reason?: string): void {
    end = { reason };
    live?.end();
    ending.call(reason);
  }
  function reject(): void {
    // A late response must not remove the session that has followed.
    if (end) return;
    const reason = 'The API key is no longer valid: it was revoked, rotated or has expired';
    endEverywhere?.(reason);
    stop(reason);
  }
  function forget(): void {
    // With what was typed: the next user of the tab must not see it.
    sessionStorage.clear();
    cache.clear();
    stop();
  }
  /** Another tab may have ended the session before the first listener is there. */
  const onEnd: Session['onEnd'] = listener => {
    if (end) listener(end.reason);
    return ending.add(listener);
  };
  const signOut = () => {
    endEverywhere?.(undefined);
    forget();
  };
  return { store, account, cache, toasts, live, can, onResponse: response.add, onEnd, signOut };
}

/** Whether the service rejects the key. An error without a code is that of a proxy, whose own login may have expired. */
function isRejection(error: unknown): boolean {
  return error instanceof AuthenticationError && error.code !== undefined;
}

/** Browsers offer `randomUUID` only to pages of HTTPS and of this machine. */
function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), part => part.toString(36)).join('');
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
 * Returns the session of this tab or of another one, or starts one with the ticket of the first start, which is in the fragment.
 * Returns `undefined` if the user has to sign in, and rejects if the service cannot be reached.
 */
export async function resume(): Promise<Session | undefined> {
  const stored = storedSession() ?? (await askForSession());
  const ticket = /^#sign-in=(\w+)$/.exec(location.hash)?.[1];
  if (ticket) {
    // The ticket does not stay in the history.
    history.replaceState(null, '', location.pathname + location.search);
    try {
      return await signIn({ key: await redeem(ticket), stays: false });
    } catch (error) {
      // Unless the link was opened again where it has signed in.
      if (!stored) throw error;
    }
  }
  if (!stored) return undefined;
  return signIn(stored).catch(error => {
    if (isRejection(error) || !isShared(stored.id)) removeSession(stored.id);
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
    },
  });
}
