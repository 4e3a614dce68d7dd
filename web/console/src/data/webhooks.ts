import type { NewWebhook, Webhook, WebhookDelivery } from '@petstore/client';
import { filledOrNull } from './lines.ts';
import type { Listing, Resource } from './resource.ts';

export const webhooks: Resource<Webhook> = {
  name: 'webhook',
  // Whether its deliveries fail.
  isSilent: true,
  idOf: webhook => webhook.id,
  list: (store, query, options) => store.webhooks.list(query, options),
  read: (store, id) => store.webhooks.get(id).withResponse(),
  create: (store, webhook) => store.webhooks.create(webhook as NewWebhook),
  update: (store, id, patch, options) => store.webhooks.update(id, patchOf(patch), options),
  patchOf,
  remove: (store, id, options) => store.webhooks.delete(id, options),
  matches: () => true,
};

/** Lines without text are no types. An empty field means no description, which a merge patch removes with null. */
function patchOf({ types, description, ...patch }: Partial<Webhook>) {
  return {
    ...patch,
    ...(types !== undefined && { types: filledOrNull(types) }),
    ...(description !== undefined && { description: description || null }),
  };
}

export const deliveryStatuses = ['pending', 'delivered', 'dead'] as const;

export interface DeliveryQuery {
  webhookId: number;
  status?: WebhookDelivery['status'] | undefined;
}

/** The deliveries of a webhook, the latest first. */
export const deliveries: Listing<WebhookDelivery, DeliveryQuery> = {
  name: 'delivery',
  // Its attempts.
  isSilent: true,
  idOf: delivery => delivery.id,
  list: (store, { webhookId, ...query }, options) =>
    store.webhooks.listDeliveries(webhookId, { ...query, sort: '-id' }, options),
};
