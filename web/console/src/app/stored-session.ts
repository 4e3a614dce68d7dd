import type { Account } from '@petstore/client';

/** A session as the browser stores it, and as tabs send it to each other. */
export interface StoredSession {
  /** The same in all tabs that share the session. */
  id: string;
  key: string;
  /** What the service said about the key when the session began. */
  account: Account;
  /** Whether it is kept when the browser closes. */
  stays: boolean;
}

type Message =
  | { kind: 'ask' }
  | { kind: 'session'; session: StoredSession }
  | { kind: 'end'; id: string; reason: string | undefined };

const STORED = 'petstore.console.session';

/** The entry of this tab with the ID of the key that used it last. */
const USER = 'petstore.console.user';

/** How long the other tabs may take to send their session, in milliseconds. */
const ANSWER = 250;

const channel = new BroadcastChannel(STORED);
const send = (message: Message) => channel.postMessage(message);

function listen(listener: (message: Message) => void): () => void {
  const onMessage = ({ data }: MessageEvent<Message>) => listener(data);
  channel.addEventListener('message', onMessage);
  return () => channel.removeEventListener('message', onMessage);
}

/** All tabs read the same entry. It has only the ID of a session that ends with the browser, whose key each tab has for itself. */
function readShared(): Partial<StoredSession> {
  return JSON.parse(localStorage.getItem(STORED) ?? '{}');
}

/** Whether a session is still that of the tabs: none has ended or replaced it. */
export function isShared(id: string): boolean {
  return readShared().id === id;
}

/** Returns the session that this tab or the browser has stored, unless it was ended in another tab while this one was asleep. */
export function storedSession(): StoredSession | undefined {
  const shared = readShared();
  if (shared.key !== undefined) return shared as StoredSession;
  const own: Partial<StoredSession> = JSON.parse(sessionStorage.getItem(STORED) ?? '{}');
  return own.id !== undefined && own.id === shared.id ? (own as StoredSession) : undefined;
}

/** Stores a session, and sends it to the tabs without one. Removes what the user of another key typed in this tab. */
export function storeSession(session: StoredSession): void {
  const { id, stays, account } = session;
  const user = String(account.keyId);
  if (sessionStorage.getItem(USER) !== user) sessionStorage.clear();
  sessionStorage.setItem(USER, user);
  localStorage.setItem(STORED, JSON.stringify(stays ? session : { id }));
  if (stays) sessionStorage.removeItem(STORED);
  else sessionStorage.setItem(STORED, JSON.stringify(session));
  send({ kind: 'session', session });
}

/** Returns the session of another tab; `undefined` if none has one. */
export async function askForSession(): Promise<StoredSession | undefined> {
  if (readShared().id === undefined) return undefined;
  return new Promise(resolve => {
    const end = (session?: StoredSession) => {
      clearTimeout(timer);
      stop();
      resolve(session);
    };
    const timer = setTimeout(end, ANSWER);
    // Other tabs may have an older session than the shared one.
    const stop = onSharedSession(session => {
      if (isShared(session.id)) end(session);
    });
    send({ kind: 'ask' });
  });
}

/** Calls the listener when another tab has started a session. Returns a function that ends this. */
export function onSharedSession(listener: (session: StoredSession) => void): () => void {
  return listen(message => {
    if (message.kind === 'session') listener(message.session);
  });
}

/** Removes a session from this browser, unless another one has replaced it. */
export function removeSession(id: string): void {
  sessionStorage.removeItem(STORED);
  if (isShared(id)) localStorage.removeItem(STORED);
}

/**
 * Sends a session to each tab that asks for it, until it ends. `onEnd` is called when it was ended in another tab, with the reason
 * if it was not the user. Returns a function that ends it here and in all other tabs.
 */
export function shareSession(
  session: StoredSession,
  onEnd: (reason: string | undefined) => void,
): (reason: string | undefined) => void {
  function forget(): void {
    stop();
    removeSession(session.id);
  }
  const stop = listen(message => {
    if (message.kind === 'ask') send({ kind: 'session', session });
    if (message.kind !== 'end' || message.id !== session.id) return;
    forget();
    onEnd(message.reason);
  });
  return reason => {
    forget();
    send({ kind: 'end', id: session.id, reason });
  };
}
