import type { Webhook } from '@petstore/client';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../../app/session.ts';
import { useActions } from '../../data/changes.ts';
import { instantOf, localTimeOf } from '../../data/days.ts';
import { useSubmit } from '../../data/submit.ts';
import { webhooks } from '../../data/webhooks.ts';
import { Button } from '../../kit/button.tsx';
import { TextField } from '../../kit/field.tsx';
import { GraceField, ONE_DAY } from '../../kit/grace-field.tsx';
import { useIsShown } from '../../kit/is-shown.ts';
import { useOneAtATime } from '../../kit/one-at-a-time.ts';
import { Question } from '../../kit/panel.tsx';
import { Time } from '../../kit/time.tsx';
import { useToasts } from '../../kit/toasts.ts';
import { LastFailure } from './last-failure.tsx';

interface WebhookActionsProps {
  webhook: Webhook;
  /** Whether the key may change webhooks, and not only read and delete them. */
  canChange: boolean;
  onRotate: (rotated: { name: string; secret: string | undefined; earlierUntil: string | undefined }) => void;
  /** Deletes the webhook. The form offers it as well, to keys that may change webhooks. */
  deletion: { text: string; onConfirm: () => void };
}

/** What can be done with a webhook, in addition to changing its fields. */
export function WebhookActions({ webhook, canChange, onRotate, deletion }: WebhookActionsProps) {
  const { store, cache } = useSession();
  const toasts = useToasts();
  const { change } = useActions(webhooks);
  const navigate = useNavigate();
  const isShown = useIsShown();
  const oneAtATime = useOneAtATime();
  const { isBusy } = oneAtATime;
  const [asking, setAsking] = useState<'rotate' | 'replay' | 'delete'>();
  const [grace, setGrace] = useState(ONE_DAY);
  // Most replays follow a failure of the last day.
  const [since, setSince] = useState(() => localTimeOf(new Date(Date.now() - ONE_DAY * 1000).toISOString()));
  const { id, enabled, disabledReason, disabledAt, failingSince } = webhook;
  const params = { webhookId: String(id) };
  const close = () => setAsking(undefined);

  function run(work: () => Promise<void>): void {
    setAsking(undefined);
    oneAtATime.run(() => work().catch(toasts.showProblem));
  }

  async function toggle(): Promise<void> {
    const done = enabled ? 'The webhook is disabled' : 'The webhook is enabled';
    await change(webhook, { enabled: !enabled }, { done });
    // Its event comes later, and not at all while the stream is cut.
    await cache.invalidateQueries({ queryKey: [webhooks.name, 'one', id] });
  }
  async function test(): Promise<void> {
    const delivery = await store.webhooks.test(id);
    await cache.resetQueries({ queryKey: ['delivery', 'list'] });
    toasts.show({ text: 'The test is sent' });
    if (!isShown()) return;
    void navigate({
      to: '/webhooks/$webhookId/deliveries/$deliveryId',
      params: { ...params, deliveryId: String(delivery.id) },
    });
  }
  async function rotate(): Promise<void> {
    const { secret, earlierSecretExpiresAt } = await store.webhooks.rotate(id, { graceSeconds: grace });
    const earlierUntil = grace > 0 ? earlierSecretExpiresAt : undefined;
    onRotate({ name: webhook.url, secret, earlierUntil });
  }
  async function replay(): Promise<void> {
    const from = instantOf(since);
    if (from === undefined) throw new Error('Choose a date and a time');
    const first = await store.events.list({ from, limit: 1 }).first();
    if (!first) throw new Error('There are no events since then');
    // A replay begins after an event.
    await store.webhooks.replay(id, { cursor: String(Number(first.id) - 1) });
    const then = enabled ? 'are sent again' : 'are sent when you enable the webhook';
    toasts.show({ text: `The events since ${new Date(from).toLocaleString()} ${then}` });
    close();
  }
  async function endReplay(): Promise<void> {
    await store.webhooks.replay(id, { cursor: 'latest' });
    toasts.show({ text: 'No replay is running. Events without a delivery are skipped' });
  }
  const form = useSubmit([], replay);

  return (
    <>
      {!enabled && disabledReason && (
        <div className="alert">
          <p>
            Disabled by the service {disabledAt && <Time at={disabledAt} />}: {disabledReason}
          </p>
        </div>
      )}
      {!enabled && !disabledReason && (
        <p className="note">This webhook is disabled: your server gets no events until you enable it.</p>
      )}
      {enabled && failingSince && (
        <div className="alert">
          <p>
            Deliveries fail. The first one failed <Time at={failingSince} />.
          </p>
          <LastFailure id={id} />
        </div>
      )}
      <div className="panel-actions">
        <Link className="button" to="/webhooks/$webhookId/deliveries" params={params}>
          Deliveries
        </Link>
        {!canChange && (
          <Button kind="danger" icon="trash" onClick={() => setAsking('delete')}>
            Delete
          </Button>
        )}
        {canChange && (
          <>
            <Button disabled={isBusy} onClick={() => run(test)}>
              Send a test
            </Button>
            <Button disabled={isBusy} onClick={() => run(toggle)}>
              {enabled ? 'Disable' : 'Enable'}
            </Button>
            <Button disabled={isBusy} onClick={() => setAsking('replay')}>
              Replay
            </Button>
            <Button disabled={isBusy} onClick={() => setAsking('rotate')}>
              Rotate the secret
            </Button>
          </>
        )}
      </div>
      {asking === 'rotate' && (
        <Question
          title="Rotate the secret?"
          action="Rotate"
          dismissal="Not yet"
          onClose={close}
          onConfirm={() => run(rotate)}
        >
          <p>The webhook gets a new secret, which is shown once. This cannot be undone.</p>
          <GraceField
            label="How long deliveries are also signed with the earlier secret"
            value={grace}
            onChange={setGrace}
          />
        </Question>
      )}
      {asking === 'delete' && (
        <Question
          title="Delete the webhook?"
          action="Delete"
          onClose={close}
          onConfirm={() => {
            close();
            deletion.onConfirm();
          }}
        >
          <p>{deletion.text}</p>
        </Question>
      )}
      {asking === 'replay' && (
        <Question
          title="Send events again?"
          action="Replay"
          dismissal="Not yet"
          onClose={close}
          onConfirm={() => form.run(replay)}
        >
          <p>Your server gets all events since then, again or for the first time.</p>
          <TextField
            label="Since"
            type="datetime-local"
            max="9999-12-31T23:59"
            value={since}
            error={form.errors.general}
            onChange={event => setSince(event.target.value)}
          />
          <Button kind="link" onClick={() => run(endReplay)}>
            End a replay that is running
          </Button>
          <p className="hint">This also skips newer events that have no delivery yet.</p>
        </Question>
      )}
    </>
  );
}
