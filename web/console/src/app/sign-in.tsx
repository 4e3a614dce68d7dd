import { type FormEvent, useState } from 'react';
import { Button } from '../kit/button.tsx';
import { TextField } from '../kit/field.tsx';
import { Icon } from '../kit/icon.tsx';
import type { Session } from './session.ts';
import { signIn } from './start-session.ts';

interface SignInProps {
  /** Why the user has to sign in, if a session ended by itself. */
  reason: string | undefined;
  onSession: (session: Session) => void;
}

export function SignIn({ reason, onSession }: SignInProps) {
  const [key, setKey] = useState('');
  const [error, setError] = useState(reason);
  const [isBusy, setBusy] = useState(false);

  function submit(event: FormEvent): void {
    event.preventDefault();
    setBusy(true);
    signIn(key.trim())
      .then(onSession, error => setError(error.message))
      .finally(() => setBusy(false));
  }

  return (
    <main className="sign-in">
      <form onSubmit={submit}>
        <p className="brand">
          <Icon name="paw" />
          Pet Store
        </p>
        <h1>Sign in</h1>
        <TextField
          label="API key"
          type="password"
          placeholder="psk_…"
          value={key}
          error={error}
          spellCheck={false}
          required
          autoFocus
          onChange={event => setKey(event.target.value)}
        />
        <Button kind="main" type="submit" disabled={isBusy}>
          {isBusy ? 'Signing in …' : 'Sign in'}
        </Button>
        <p className="hint">
          The key stays in this tab, until you sign out or close it. An administrator can create keys; the
          first one is in the file <code>admin.key</code> of the service’s data.
        </p>
      </form>
    </main>
  );
}
