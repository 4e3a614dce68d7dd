import type { ApiKey } from '@petstore/client';
import { useState } from 'react';
import { useSession } from '../../app/session.ts';
import { useRefreshKey } from '../../data/fresh-keys.ts';
import { Button } from '../../kit/button.tsx';
import { GraceField, ONE_DAY } from '../../kit/grace-field.tsx';
import { useOneAtATime } from '../../kit/one-at-a-time.ts';
import { Question } from '../../kit/panel.tsx';
import { useToasts } from '../../kit/toasts.ts';

interface KeyActionsProps {
  apiKey: ApiKey;
  onRotate: (rotated: { name: string; secret: string | undefined; earlierUntil: string | undefined }) => void;
}

/** What can be done with a key, in addition to changing its fields. None of it can be undone, so each asks first. */
export function KeyActions({ apiKey: { id, name, ban }, onRotate }: KeyActionsProps) {
  const { store, account } = useSession();
  const toasts = useToasts();
  const refresh = useRefreshKey();
  const [asking, setAsking] = useState<'rotate' | 'reset' | 'lift'>();
  const [grace, setGrace] = useState(ONE_DAY);
  const oneAtATime = useOneAtATime();
  const { isBusy } = oneAtATime;
  const isOwn = id === account.keyId;

  function run(work: () => Promise<void>): void {
    setAsking(undefined);
    oneAtATime.run(() => work().catch(toasts.showProblem));
  }
  const ask = (about: typeof asking) => () => setAsking(about);
  const close = () => setAsking(undefined);

  async function rotate(): Promise<void> {
    const { key: secret, earlierKeysExpireAt } = await store.keys.rotate(id, { graceSeconds: grace });
    // The key itself can have expired.
    const isOver = grace === 0 || Date.parse(earlierKeysExpireAt) <= Date.now();
    onRotate({ name, secret, earlierUntil: isOver ? undefined : earlierKeysExpireAt });
  }
  async function reset(): Promise<void> {
    await store.keys.resetLimits(id);
    await refresh(id);
    toasts.show({ text: `The limits of ${name} start again` });
  }
  async function lift(): Promise<void> {
    await store.keys.liftBan(id);
    await refresh(id);
    toasts.show({ text: `${name} is no longer banned` });
  }

  return (
    <>
      {ban && (
        <div className="alert" role="status">
          <p>
            Banned until {new Date(ban.until).toLocaleString()}, because it kept sending requests after they
            were rejected. Until then the service rejects all its requests.
          </p>
          <Button disabled={isBusy} onClick={ask('lift')}>
            Lift the ban
          </Button>
        </div>
      )}
      <div className="panel-actions">
        <Button disabled={isBusy} onClick={ask('rotate')}>
          Rotate the secret
        </Button>
        <Button disabled={isBusy} onClick={ask('reset')}>
          Reset the limits
        </Button>
      </div>
      {asking === 'rotate' && (
        <Question
          title={`Rotate the secret of ${name}?`}
          action="Rotate"
          dismissal="Not yet"
          onClose={close}
          onConfirm={() => run(rotate)}
        >
          <p>
            The key gets a new secret, which is shown once.
            {isOwn &&
              ' The console uses this key: sign in with the new secret before the earlier one expires.'}
          </p>
          <GraceField
            label="How long the earlier secret continues to work"
            value={grace}
            // The console could not show the new secret after its own was rejected.
            min={isOwn ? 1 : 0}
            onChange={setGrace}
          />
        </Question>
      )}
      {asking === 'reset' && (
        <Question
          title={`Reset the limits of ${name}?`}
          action="Reset"
          dismissal="Not yet"
          onClose={close}
          onConfirm={() => run(reset)}
        >
          <p>
            Its minute and its day start again at zero, and its ban ends. The usage by day is kept. This
            cannot be undone.
          </p>
        </Question>
      )}
      {asking === 'lift' && (
        <Question
          title={`Lift the ban of ${name}?`}
          action="Lift the ban"
          kind="main"
          dismissal="Not yet"
          onClose={close}
          onConfirm={() => run(lift)}
        >
          <p>The service admits its requests again at once. What it has used of its limits still counts.</p>
        </Question>
      )}
    </>
  );
}
