import { type Call, call, post } from '../call.ts';
import type { Client } from '../client.ts';
import type {
  CreatedWebhook,
  Replay,
  RotatedWebhook,
  Webhook,
  WebhookDelivery,
  WebhookDeliveryDetails,
} from '../contract.ts';
import { type List, list as listOf } from '../list.ts';
import type { BodyOf, CallOptions, PostOptions, QueryOf } from '../request.ts';

/** Lists webhooks. Webhooks are beta. */
export const list = (
  client: Client,
  query?: QueryOf<'GET /webhooks'>,
  options?: CallOptions,
): List<Webhook> => listOf(client, 'GET /webhooks', [query], options);

/** Creates a webhook. Its secret is in `secret`, once. */
export const create = (
  client: Client,
  body: BodyOf<'POST /webhooks'>,
  options?: PostOptions,
): Call<CreatedWebhook> => post(client, 'POST /webhooks', [body], options);

/** Reads a webhook. */
export const get = (client: Client, webhookId: number, options?: CallOptions): Call<Webhook> =>
  call(client, 'GET /webhooks/{webhookId}', [webhookId], options);

/** Replaces all fields of a webhook. */
export const replace = (
  client: Client,
  webhookId: number,
  body: BodyOf<'PUT /webhooks/{webhookId}'>,
  options?: CallOptions,
): Call<Webhook> => call(client, 'PUT /webhooks/{webhookId}', [webhookId, body], options);

/** Changes fields of a webhook. */
export const update = (
  client: Client,
  webhookId: number,
  body: BodyOf<'PATCH /webhooks/{webhookId}'>,
  options?: CallOptions,
): Call<Webhook> => call(client, 'PATCH /webhooks/{webhookId}', [webhookId, body], options);

/** Deletes a webhook. */
const remove = (client: Client, webhookId: number, options?: CallOptions): Call<undefined> =>
  call(client, 'DELETE /webhooks/{webhookId}', [webhookId], options);

/** Replaces the secret of a webhook. Until the old one expires, deliveries have two signatures. */
export const rotate = (
  client: Client,
  webhookId: number,
  body?: BodyOf<'POST /webhooks/{webhookId}/rotate'>,
  options?: PostOptions,
): Call<RotatedWebhook> => post(client, 'POST /webhooks/{webhookId}/rotate', [webhookId, body], options);

/** Sends an event of type `webhook.test` to a webhook. */
export const test = (client: Client, webhookId: number, options?: PostOptions): Call<WebhookDelivery> =>
  post(client, 'POST /webhooks/{webhookId}/test', [webhookId], options);

/** Sends all events after a cursor to a webhook again. */
export const replay = (
  client: Client,
  webhookId: number,
  body: BodyOf<'POST /webhooks/{webhookId}/replay'>,
  options?: PostOptions,
): Call<Replay> => post(client, 'POST /webhooks/{webhookId}/replay', [webhookId, body], options);

/** Lists the deliveries of a webhook. */
export const listDeliveries = (
  client: Client,
  webhookId: number,
  query?: QueryOf<'GET /webhooks/{webhookId}/deliveries'>,
  options?: CallOptions,
): List<WebhookDelivery> =>
  listOf(client, 'GET /webhooks/{webhookId}/deliveries', [webhookId, query], options);

/** Reads a delivery with its attempts. */
export const getDelivery = (
  client: Client,
  webhookId: number,
  deliveryId: number,
  options?: CallOptions,
): Call<WebhookDeliveryDetails> =>
  call(client, 'GET /webhooks/{webhookId}/deliveries/{deliveryId}', [webhookId, deliveryId], options);

/** Sends a delivery again. */
export const redeliver = (
  client: Client,
  webhookId: number,
  deliveryId: number,
  options?: PostOptions,
): Call<WebhookDelivery> =>
  post(
    client,
    'POST /webhooks/{webhookId}/deliveries/{deliveryId}/redeliver',
    [webhookId, deliveryId],
    options,
  );

export { remove as delete };
