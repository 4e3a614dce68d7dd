import type { Transaction } from '../../db/database.ts';
import { EventKind } from '../event-log/event-kind.ts';
import { type EventType, TEST_TYPE } from '../event-log/event-types.ts';
import { Replay, WebhookDelivery } from './delivery.ts';
import { toWebhook, Webhook } from './webhook.ts';
import type { WebhookRow } from './webhook-queries.ts';

export const webhookEvents = new EventKind({
  title: 'WebhookEvent',
  types: [
    'webhook.created',
    'webhook.updated',
    'webhook.enabled',
    'webhook.disabled',
    'webhook.rotated',
    'webhook.deleted',
  ],
  data: Webhook,
});

export const webhookReplayEvents = new EventKind({
  title: 'WebhookReplayEvent',
  types: ['webhook.replayed'],
  data: Replay,
});

export const webhookRedeliveryEvents = new EventKind({
  title: 'WebhookRedeliveryEvent',
  types: ['webhook.redelivered'],
  data: WebhookDelivery,
});

export const webhookTestEvents = new EventKind({
  title: 'WebhookTestEvent',
  types: [TEST_TYPE],
  data: Webhook,
});

/** The name of a webhook in the history. */
export function nameOf({ description, url }: Pick<WebhookRow, 'description' | 'url'>): string {
  return description || url;
}

/** Appends an event of a webhook, which is about the whole webhook unless `before` is given. */
export function appendWebhookEvent(
  tx: Transaction,
  type: (typeof webhookEvents.types)[number] & EventType,
  row: WebhookRow,
  { before, reason }: { before?: Webhook; reason?: string | undefined } = {},
): void {
  webhookEvents.append(tx, type, row.id, toWebhook(row), { before, name: nameOf(row), reason });
}

/** Appends the event of a webhook that the service disabled: it was enabled before. */
export function appendDisabled(tx: Transaction, row: WebhookRow): void {
  const before = toWebhook({ ...row, enabled: 1, disabled_reason: null, disabled_at: null });
  appendWebhookEvent(tx, 'webhook.disabled', row, { before, reason: row.disabled_reason ?? undefined });
}
