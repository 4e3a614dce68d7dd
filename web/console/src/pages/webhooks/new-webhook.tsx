import type { Webhook } from '@petstore/client';
import { useNavigate } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { useNewForm } from '../../data/forms.ts';
import { filledOrNull } from '../../data/lines.ts';
import { addItem } from '../../data/list-cache.ts';
import { webhooks } from '../../data/webhooks.ts';
import { useCloseTo } from '../../kit/close.ts';
import { FormPanel } from '../../kit/form-panel.tsx';
import { SecretPanel, useSecret } from '../../kit/secret-panel.tsx';
import { WebhookFields, type WebhookSettings, webhookFields } from './webhook-fields.tsx';

const empty: WebhookSettings = { url: '', types: null, description: '' };

export function useClose(): () => void {
  const navigate = useNavigate();
  return useCloseTo(() => navigate({ to: '/webhooks' }));
}

export function NewWebhook() {
  const { store, cache } = useSession();
  const close = useClose();
  const [created, setCreated] = useSecret<{ name: string; secret: string | undefined }>();
  const form = useNewForm({
    name: 'webhook.new',
    empty,
    fields: webhookFields,
    create: async ({ url, types, description }) => {
      const body = { url, types: filledOrNull(types), ...(description && { description }) };
      // The secret gets into this panel and nowhere else: not into the cache, and not into the storage of drafts.
      const { secret, ...item } = await store.webhooks.create(body);
      addItem<Webhook>(cache, webhooks, item);
      return { name: url, secret };
    },
    show: setCreated,
    onClose: close,
  });
  if (created)
    return (
      <SecretPanel
        title="Secret of the webhook"
        secret={created.secret}
        hint="Your server uses it to verify the signature of each delivery."
        onClose={close}
      />
    );
  return (
    <FormPanel title="New webhook" action="Add" {...form.panel}>
      <WebhookFields {...form.fields} />
    </FormPanel>
  );
}
