import { WEBHOOKS_PER_KEY } from '../../contract/defaults.ts';
import { CREATED_ID } from '../../contract/operation.ts';
import { pageOf } from '../../contract/page.ts';
import { inWords } from '../../kit/quantities.ts';
import { merged, replacement } from '../../routes/change.ts';
import type { Context } from '../../routes/context.ts';
import { defineRoute, type Route } from '../../routes/define-route.ts';
import { idParams } from '../../routes/id-params.ts';
import { listQuery } from '../../routes/list-query.ts';
import { reply } from '../../routes/reply.ts';
import type { EventUnion } from '../event-log/event-kind.ts';
import type { EventTail } from '../event-log/event-tail.ts';
import { shopScopes } from '../event-log/event-types.ts';
import { eventCallback } from './callback.ts';
import { RESPONSE_TIMEOUT, SCHEDULE } from './delivery-rules.ts';
import type { Endpoints } from './endpoints.ts';
import { FAILING_CONCURRENCY, INITIAL_CONCURRENCY, MAX_CONCURRENCY } from './lane-rules.ts';
import { type ReadStandings, WEBHOOK_SCOPES } from './owners.ts';
import {
  CreatedWebhook,
  NewWebhook,
  RotatedWebhook,
  SecretRotation,
  Webhook,
  WebhookPatch,
} from './webhook.ts';
import { webhookList } from './webhook-queries.ts';
import * as webhooks from './webhooks.ts';

export const webhookParams = idParams('webhookId', 'The webhook.');

/** The parts of the service that operations on webhooks use. */
export interface WebhookServices {
  tail: EventTail;
  /** The source of events. */
  source: string;
  /** The schema of events. */
  event: EventUnion;
  endpoints: Endpoints;
  readStandings: ReadStandings;
  /** The maximum number of webhooks of one API key. */
  webhooksPerKey: number;
}

/** Returns the actor of a request. */
export function actorOf(
  { caller, now }: Pick<Context<unknown, unknown, unknown>, 'caller' | 'now'>,
  { readStandings }: Pick<WebhookServices, 'readStandings'>,
): webhooks.Actor {
  return { keyId: caller.keyId, scopes: caller.scopes, readStandings, now };
}

const shared = { tag: 'Webhooks', stability: 'beta' } as const;

/** The settings of operations that read or delete webhooks. */
export const reading = { ...shared, scope: 'webhooks:write' } as const;

/** The settings of operations that determine where events are sent: the key must also be allowed to read events. */
export const changing = { ...shared, scope: WEBHOOK_SCOPES, anyOfScopes: shopScopes } as const;

/** The settings of operations that change the settings of a webhook. */
const updating = {
  ...changing,
  params: webhookParams,
  success: { status: 200, description: 'The updated webhook.', schema: Webhook },
  conditional: true,
  errors: ['webhook_not_found', 'webhook_key_unfit'],
} as const;

/** Rejects a forbidden URL. A missing webhook is rejected first. */
async function rejectForbidden(
  services: WebhookServices,
  context: Context<{ webhookId: number }, unknown, { url?: string }>,
): Promise<void> {
  const { db, params, body } = context;
  const { url } = await webhooks.read(db, params.webhookId, actorOf(context, services));
  if (body.url !== undefined) await services.endpoints.rejectForbidden(body.url, url);
}

export const webhookRoutes = (services: WebhookServices): Route[] => [
  defineRoute({
    ...reading,
    method: 'GET',
    path: '/webhooks',
    operationId: 'listWebhooks',
    summary: 'List webhooks',
    description:
      'The webhooks that belong to the calling API key, without their secrets. With the scope `admin`, the webhooks of all ' +
      'keys.',
    query: listQuery(webhookList),
    success: pageOf(Webhook, 'A page of webhooks.'),
    errors: [],
    handler: async context =>
      reply.page(await webhooks.list(context.db, context.query, actorOf(context, services))),
  }),

  defineRoute({
    ...changing,
    method: 'POST',
    path: '/webhooks',
    operationId: 'createWebhook',
    summary: 'Create a webhook',
    description:
      'Sends the events of all later changes to `url` by POST, in the shape of `GET /events`, with the headers of ' +
      'Standard Webhooks 1.0.0: `webhook-id`, `webhook-timestamp` and `webhook-signature`. Return a 2xx within ' +
      `${inWords(RESPONSE_TIMEOUT)}. Any other response is a failure, including a redirect. The service tries again after ` +
      `${SCHEDULE}, or later if \`Retry-After\` requests it; 410 disables the webhook. An event can arrive ` +
      'more than once, with the same `webhook-id`. Events of one subject are sent in order, each after the one before it was ' +
      'delivered or is dead. Events of other subjects are sent at the same time: ' +
      `${INITIAL_CONCURRENCY} at first, up to ${MAX_CONCURRENCY} to an endpoint that responds quickly, and ` +
      `${FAILING_CONCURRENCY} while attempts fail. \`secret\` is shown only once. The webhook belongs to the key that ` +
      `created it. A key can have ${WEBHOOKS_PER_KEY} webhooks unless the service is configured otherwise. ` +
      'The key needs the scopes that the events need: see `GET /events`. Without `types` the webhook gets all events that the ' +
      'key may read. When that key is revoked, expires or no longer has the scopes for `types`, or `webhooks:write` and ' +
      '`events:read`, the webhook is disabled.',
    body: NewWebhook,
    success: {
      status: 201,
      description: 'The webhook as created, with its secret.',
      schema: CreatedWebhook,
      read: { operationId: 'getWebhook', parameters: { webhookId: CREATED_ID } },
    },
    shownOnce: ['secret'],
    conditional: true,
    callbacks: { event: eventCallback(services.event) },
    errors: ['too_many_webhooks'],
    prepare: async ({ body }) => {
      // A webhook starts at the end of the log, which must contain all changes that were acknowledged before.
      await Promise.all([services.endpoints.rejectForbidden(body.url), services.tail.settled()]);
    },
    handler: async context => {
      const actor = actorOf(context, services);
      const webhook = await webhooks.create(context.db, context.body, actor, services.webhooksPerKey);
      return reply.created(`/webhooks/${webhook.id}`, webhook);
    },
  }),

  defineRoute({
    ...reading,
    method: 'GET',
    path: '/webhooks/{webhookId}',
    operationId: 'getWebhook',
    summary: 'Read a webhook',
    description:
      'The webhook without its secret. `disabledReason` states why the service disabled it. Webhooks of other keys are not ' +
      'found, unless the calling API key has the scope `admin`.',
    params: webhookParams,
    success: { status: 200, description: 'The webhook.', schema: Webhook },
    conditional: true,
    errors: ['webhook_not_found'],
    handler: async context => {
      const { db, params } = context;
      return reply.resource(await webhooks.read(db, params.webhookId, actorOf(context, services)));
    },
  }),

  defineRoute({
    ...updating,
    method: 'PUT',
    path: '/webhooks/{webhookId}',
    operationId: 'replaceWebhook',
    summary: 'Replace a webhook',
    description:
      'Replaces the settings of the webhook: without `types` it gets all events, without `enabled` it is enabled. A ' +
      'webhook that is enabled again continues where it stopped; to skip the events since then, replay it from the cursor ' +
      '`latest`. It still belongs to the key that created it, even if an administrator changes it.',
    body: NewWebhook,
    prepare: context => rejectForbidden(services, context),
    handler: async context => {
      const { db, params } = context;
      const actor = actorOf(context, services);
      return reply.resource(await webhooks.update(db, params.webhookId, replacement(context), actor));
    },
  }),

  defineRoute({
    ...updating,
    method: 'PATCH',
    path: '/webhooks/{webhookId}',
    operationId: 'changeWebhook',
    summary: 'Change a webhook',
    description:
      'A JSON merge patch (RFC 7396): fields that are left out do not change; `types: null` means all events. Otherwise the ' +
      'same as PUT.',
    body: WebhookPatch,
    success: {
      ...updating.success,
      example: { ...Webhook.example, disabledAt: '2026-11-21T12:00:00.000Z' },
    },
    prepare: context => rejectForbidden(services, context),
    handler: async context => {
      const { db, params } = context;
      const actor = actorOf(context, services);
      return reply.resource(await webhooks.update(db, params.webhookId, merged(context), actor));
    },
  }),

  defineRoute({
    ...reading,
    method: 'DELETE',
    path: '/webhooks/{webhookId}',
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook',
    description: 'Deletes the webhook and its deliveries. Nothing more is sent to it.',
    params: webhookParams,
    success: { status: 204, description: 'The webhook was deleted.' },
    conditional: true,
    errors: ['webhook_not_found'],
    handler: async context => {
      const { db, params, guard } = context;
      await webhooks.remove(db, params.webhookId, guard, actorOf(context, services));
      return reply.empty;
    },
  }),

  defineRoute({
    ...changing,
    method: 'POST',
    path: '/webhooks/{webhookId}/rotate',
    operationId: 'rotateWebhookSecret',
    summary: 'Rotate the secret of a webhook',
    description:
      'Returns the new `secret`, which is shown only once. Until `earlierSecretExpiresAt` each message is also signed with ' +
      'the earlier secret, so that the receiver can switch without rejecting a message. After a leak send ' +
      '`graceSeconds: 0`. Only the last two secrets sign.',
    params: webhookParams,
    body: SecretRotation,
    bodyOptional: true,
    success: { status: 200, description: 'The webhook, with its new secret.', schema: RotatedWebhook },
    shownOnce: ['secret'],
    errors: ['webhook_not_found'],
    handler: async context => {
      const { db, params, body } = context;
      return reply.resource(await webhooks.rotate(db, params.webhookId, body, actorOf(context, services)));
    },
  }),
];
