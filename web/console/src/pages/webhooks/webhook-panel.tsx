import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../../app/session.ts';
import { useActions } from '../../data/changes.ts';
import { useEdit } from '../../data/edits.ts';
import { findItem } from '../../data/list-cache.ts';
import { useSubmit } from '../../data/submit.ts';
import { webhooks } from '../../data/webhooks.ts';
import { FormPanel } from '../../kit/form-panel.tsx';
import { Panel } from '../../kit/panel.tsx';
import { SecretPanel } from '../../kit/secret-panel.tsx';
import { SkeletonPanel } from '../../kit/skeleton.tsx';
import { HistoryPart } from '../activity/history-part.tsx';
import { useClose } from './new-webhook.tsx';
import { WebhookActions } from './webhook-actions.tsx';
import { WebhookFields, webhookFields } from './webhook-fields.tsx';

const webhook = getRouteApi('/webhooks/$webhookId');

export function EditWebhook() {
  const { webhookId } = webhook.useParams();
  return <EditPanel key={webhookId} id={Number(webhookId)} />;
}

function EditPanel({ id }: { id: number }) {
  const { cache, can } = useSession();
  const close = useClose();
  const { remove } = useActions(webhooks);
  const [shown] = useState(() => findItem(cache, webhooks, id));
  const [rotated, setRotated] = useState<{ secret: string | undefined; earlierUntil: string }>();
  const { edit, set, conflictOn, discard, save, isRestored, error } = useEdit(webhooks, id, shown);
  const form = useSubmit(webhookFields, async () => {
    if (await save('Saved the webhook')) close();
  });
  if (!edit)
    return (
      <Panel title="Webhook" onClose={close}>
        <SkeletonPanel error={error} />
      </Panel>
    );
  const { base, draft } = edit;
  if (rotated)
    return (
      <SecretPanel
        title="New secret of the webhook"
        secret={rotated.secret}
        hint={`Until ${new Date(rotated.earlierUntil).toLocaleString()} each delivery is also signed with the earlier secret.`}
        onClose={() => setRotated(undefined)}
      />
    );
  const canChange = can('events:read');
  const deletion = {
    text: 'This cannot be undone. Deliveries that wait will not be sent.',
    onConfirm: () => form.run(() => remove(base, 'Deleted the webhook').then(close)),
  };
  return (
    <FormPanel
      title="Webhook"
      form={form}
      action={canChange ? 'Save' : undefined}
      deletion={deletion}
      onDiscard={isRestored ? discard : undefined}
      onClose={close}
    >
      {error && <p className="field-error">{error.message}</p>}
      <WebhookActions webhook={base} canChange={canChange} onRotate={setRotated} deletion={deletion} />
      <WebhookFields
        item={draft}
        errors={form.errors.fields}
        conflicts={{
          url: conflictOn('url', url => url),
          types: conflictOn('types', types => types?.join(', ') ?? 'all'),
          description: conflictOn('description', description => description || 'nothing'),
        }}
        isReadOnly={!canChange}
        onChange={set}
      />
      {can('admin') && <HistoryPart subject={`webhooks/${id}`} />}
    </FormPanel>
  );
}
