import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useEffect, useLayoutEffect, useState } from 'react';
import { ToastsContext } from '../kit/toasts.ts';
import { LoadingLine } from './loading.tsx';
import { router } from './router.tsx';
import { type Session, SessionContext } from './session.ts';
import { SignIn } from './sign-in.tsx';
import { resume, signIn } from './start-session.ts';
import { isShared, onSharedSession, type StoredSession } from './stored-session.ts';
import { useShownTheme } from './theme.ts';

/** The session of this tab, or the form to sign in, which another tab with a session replaces. */
export function App() {
  const [session, setSession] = useState<Session | 'resuming' | 'none'>('resuming');
  const hasSession = typeof session !== 'string';
  /** The session that another tab has started while this one has none. */
  const [shared, setShared] = useState<StoredSession>();
  const [reason, setReason] = useState<string>();
  useShownTheme();

  useEffect(() => {
    let isCurrent = true;
    resume().then(
      resumed => isCurrent && setSession(resumed ?? 'none'),
      error => {
        setReason(error.message);
        setSession('none');
      },
    );
    return () => {
      isCurrent = false;
    };
  }, []);

  useEffect(() => {
    if (session !== 'none') return;
    // The router is not rendered, and would show the page of the address at which the user signed out.
    return router.history.subscribe(() => void router.load());
  }, [session]);

  // Also while the page is loading, so that the form misses no session.
  useLayoutEffect(() => {
    if (hasSession) return;
    const stop = onSharedSession(setShared);
    return () => {
      stop();
      setShared(undefined);
    };
  }, [hasSession]);

  useEffect(() => {
    if (session !== 'none' || !shared) return;
    signIn(shared).then(setSession, error => {
      // A tab also sends a session that another one has replaced.
      if (isShared(shared.id)) setReason(error.message);
    });
  }, [session, shared]);

  useEffect(() => {
    if (typeof session === 'string') return;
    return session.onEnd(reason => {
      setReason(reason);
      setSession('none');
    });
  }, [session]);

  if (session === 'resuming') return <LoadingLine />;
  if (session === 'none') return <SignIn reason={reason} onSession={setSession} />;
  return (
    <SessionContext value={session}>
      <QueryClientProvider client={session.cache}>
        <ToastsContext value={session.toasts}>
          <RouterProvider router={router} />
        </ToastsContext>
      </QueryClientProvider>
    </SessionContext>
  );
}
