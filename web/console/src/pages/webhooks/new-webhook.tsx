import type { Webhook } from '@petstore/client';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../../app/session.ts';
import { useDraft } from '../../data/draft.ts';
import { filledOrNull } from '../../data/lines.ts';
import { addItem } from '../../data/list-cache.ts';
import { useSubmit } from '../../data/submit.ts';
import { webhooks } from '../../data/webhooks.ts';
import { useCloseTo } from '../../kit/close.ts';
import { FormPanel } from '../../kit/form-panel.tsx';
import { SecretPanel } from '../../kit/secret-panel.tsx';
import { WebhookFields, type WebhookSettings, webhookFields } from './webhook-fields.tsx';

const empty: WebhookSettings = { url: '', types: null, description: '' };

export function useClose(): () => void {
  const navigate = useNavigate();
  return useCloseTo(() => navigate({ to: '/webhooks' }));
}

export function NewWebhook() {
  const { store, cache } = useSession();
  const close = useClose();
  const [draft, set, clear, isRestored, finish] = useDraft('webhook.new', empty);
  const [created, setCreated] = useState<{ secret: string | undefined }>();
  const form = useSubmit(webhookFields, async () => {
    const { url, types, description } = draft;
    const body = { url, types: filledOrNull(types), ...(description && { description }) };
    // The secret gets into this panel and nowhere else: not into the cache, and not into the storage of drafts.
    const { secret, ...item } = await store.webhooks.create(body);
    addItem<Webhook>(cache, webhooks, item);
    finish(draft);
    setCreated({ secret });
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
    <FormPanel
      title="New webhook"
      form={form}
      action="Add"
      onDiscard={isRestored ? clear : undefined}
      onClose={close}
    >
      <WebhookFields item={draft} errors={form.errors.fields} onChange={set} />
    </FormPanel>
  );
}
