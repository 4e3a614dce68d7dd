import type { Wait } from '@petstore/client';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { WaitText } from './banner.tsx';
import { router } from './router.tsx';
import { type Session, SessionContext } from './session.ts';
import { SignIn } from './sign-in.tsx';
import { resume } from './start-session.ts';

/** The session of this tab, or the form to sign in. */
export function App() {
  const [session, setSession] = useState<Session | 'resuming' | 'none'>('resuming');
  const [reason, setReason] = useState<string>();
  const [wait, setWait] = useState<Wait>();

  useEffect(() => {
    let isCurrent = true;
    resume(setWait).then(
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
    if (typeof session === 'string') return;
    return session.onEnd(reason => {
      setReason(reason);
      setSession('none');
    });
  }, [session]);

  if (session === 'resuming')
    return (
      wait && (
        <main className="sign-in">
          <WaitText wait={wait} />
        </main>
      )
    );
  if (session === 'none') return <SignIn reason={reason} onSession={setSession} />;
  return (
    <SessionContext value={session}>
      <QueryClientProvider client={session.cache}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </SessionContext>
  );
}
