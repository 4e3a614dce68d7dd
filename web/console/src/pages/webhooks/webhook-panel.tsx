import { getRouteApi } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { useActions } from '../../data/changes.ts';
import { useEditForm } from '../../data/forms.ts';
import { webhooks } from '../../data/webhooks.ts';
import { FormPanel } from '../../kit/form-panel.tsx';
import { SecretPanel, useSecret } from '../../kit/secret-panel.tsx';
import { LoadingPanel } from '../../kit/skeleton.tsx';
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
  const { can } = useSession();
  const close = useClose();
  const { remove } = useActions(webhooks);
  const [rotated, setRotated] = useSecret<{
    name: string;
    secret: string | undefined;
    /** `undefined` if deliveries are no longer signed with the earlier secret. */
    earlierUntil: string | undefined;
  }>();
  const { edit, conflictOn, run, error, panel } = useEditForm(webhooks, id, {
    fields: webhookFields,
    save: save => save('Saved the webhook'),
    onClose: close,
  });
  if (!edit) return <LoadingPanel title="Webhook" error={error} onClose={close} />;
  const { base } = edit;
  if (rotated)
    return (
      <SecretPanel
        title="New secret of the webhook"
        secret={rotated.secret}
        hint={
          rotated.earlierUntil
            ? `Until ${new Date(rotated.earlierUntil).toLocaleString()} each delivery is also signed with the earlier secret.`
            : 'No delivery is signed with the earlier secret any more.'
        }
        onClose={() => setRotated(undefined)}
      />
    );
  const canChange = can('events:read');
  const deletion = {
    text: 'This cannot be undone. Deliveries that wait will not be sent.',
    onConfirm: () => run(() => remove(base, 'Deleted the webhook').then(close)),
  };
  return (
    <FormPanel title="Webhook" {...panel} action={canChange ? 'Save' : undefined} deletion={deletion}>
      <WebhookActions webhook={base} canChange={canChange} onRotate={setRotated} deletion={deletion} />
      <WebhookFields
        {...edit.fields}
        conflicts={{
          url: conflictOn('url', url => url),
          types: conflictOn('types', types => types?.join(', ') ?? 'all'),
          description: conflictOn('description', description => description || 'nothing'),
        }}
        isReadOnly={!canChange}
      />
      {can('admin') && <HistoryPart subject={`webhooks/${id}`} />}
    </FormPanel>
  );
}
