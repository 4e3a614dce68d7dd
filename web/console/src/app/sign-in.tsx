import { type FormEvent, useState } from 'react';
import { Button } from '../kit/button.tsx';
import { TextField } from '../kit/field.tsx';
import { useTitle } from '../kit/title.ts';
import { Mark } from './mark.tsx';
import type { Session } from './session.ts';
import { signIn } from './start-session.ts';

interface SignInProps {
  /** Why the user has to sign in, if a session ended by itself. */
  reason: string | undefined;
  onSession: (session: Session) => void;
}

export function SignIn({ reason, onSession }: SignInProps) {
  const [key, setKey] = useState('');
  const [error, setError] = useState<string>();
  const [stays, setStays] = useState(false);
  const [isBusy, setBusy] = useState(false);
  useTitle('Sign in');

  function submit(event: FormEvent): void {
    event.preventDefault();
    setBusy(true);
    signIn({ key: key.trim(), stays })
      .then(onSession, error => setError(error.message))
      .finally(() => setBusy(false));
  }

  return (
    <main className="sign-in">
      <form onSubmit={submit}>
        <p className="brand">
          <Mark />
          Pet Store
        </p>
        <h1>Sign in</h1>
        <TextField
          label="API key"
          type="password"
          placeholder="psk_…"
          value={key}
          error={error ?? reason}
          spellCheck={false}
          required
          autoFocus
          onChange={event => setKey(event.target.value)}
        />
        <label className="check">
          <input type="checkbox" checked={stays} onChange={event => setStays(event.target.checked)} />
          Stay signed in on this device
        </label>
        <Button kind="main" type="submit" disabled={isBusy}>
          {isBusy ? 'Signing in …' : 'Sign in'}
        </Button>
        <p className="hint">
          {stays
            ? 'Until you sign out, everybody who uses this browser works with your key. Do not choose this on a shared computer.'
            : 'You stay signed in until you sign out or close the last tab of the console.'}
        </p>
        <p className="hint">
          An administrator can create keys; the first one is in the file <code>admin.key</code> of the
          service’s data.
        </p>
      </form>
    </main>
  );
}
