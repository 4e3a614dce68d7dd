import { EVENT_DAYS } from '../../contract/defaults.ts';
import { CREATED_ID } from '../../contract/operation.ts';
import { pageOf } from '../../contract/page.ts';
import { grouped } from '../../kit/quantities.ts';
import { defineRoute, type Route } from '../../routes/define-route.ts';
import { idParams, nestedIdParams } from '../../routes/id-params.ts';
import { listQuery } from '../../routes/list-query.ts';
import { reply } from '../../routes/reply.ts';
import * as deliveries from './deliveries.ts';
import { exampleOfTest, NewReplay, Replay, WebhookDelivery, WebhookDeliveryDetails } from './delivery.ts';
import { deliveryList } from './delivery-queries.ts';
import { WINDOW } from './delivery-rules.ts';
import { actorOf, changing, reading, type WebhookServices, webhookParams } from './webhook-routes.ts';

const deliveryParams = nestedIdParams(webhookParams, idParams('deliveryId', 'The delivery.'));

export const deliveryRoutes = (
  services: Pick<WebhookServices, 'tail' | 'source' | 'readStandings'>,
): Route[] => [
  defineRoute({
    ...changing,
    method: 'POST',
    path: '/webhooks/{webhookId}/test',
    operationId: 'testWebhook',
    summary: 'Send a test event',
    description:
      'Appends an event of type `webhook.test` to the log, whose `data` is the webhook, and returns its delivery. Read the ' +
      'delivery at `Location` to see the result. A test is sent only to this webhook, regardless of its `types`, and attempted only ' +
      'once; a replay does not repeat it. In the log only keys with the scope `admin` get it.',
    params: webhookParams,
    success: {
      status: 201,
      description: 'The delivery of the test.',
      schema: WebhookDelivery,
      example: exampleOfTest,
      read: {
        operationId: 'getWebhookDelivery',
        parameters: { webhookId: '$request.path.webhookId', deliveryId: CREATED_ID },
      },
    },
    errors: ['webhook_not_found', 'webhook_disabled'],
    handler: async context => {
      const { db, params } = context;
      const actor = actorOf(context, services);
      const delivery = await deliveries.test(db, params.webhookId, actor, services.source);
      return reply.created(`/webhooks/${params.webhookId}/deliveries/${delivery.id}`, delivery);
    },
  }),

  defineRoute({
    ...reading,
    method: 'GET',
    path: '/webhooks/{webhookId}/deliveries',
    operationId: 'listWebhookDeliveries',
    summary: 'List the deliveries of a webhook',
    description:
      `Finished and pending deliveries of the webhook, newest first. Finished deliveries are retained for ${EVENT_DAYS} ` +
      'days unless the service is configured otherwise. At most ' +
      `${grouped(WINDOW.pending)} deliveries are pending; at most ${grouped(WINDOW.untried)} of them are due and were ` +
      'never attempted. Later events wait in the log and become deliveries when earlier deliveries finish.',
    params: webhookParams,
    query: listQuery(deliveryList),
    success: pageOf(WebhookDelivery, 'A page of deliveries.'),
    errors: ['webhook_not_found'],
    handler: async context => {
      const { db, params, query } = context;
      const actor = actorOf(context, services);
      return reply.page(await deliveries.list(db, params.webhookId, query, actor));
    },
  }),

  defineRoute({
    ...reading,
    method: 'GET',
    path: '/webhooks/{webhookId}/deliveries/{deliveryId}',
    operationId: 'getWebhookDelivery',
    summary: 'Read a delivery',
    description: 'The delivery with its attempts: the duration of each, and the start of the response.',
    params: deliveryParams,
    success: { status: 200, description: 'The delivery.', schema: WebhookDeliveryDetails },
    conditional: true,
    errors: ['webhook_not_found', 'delivery_not_found'],
    handler: async context =>
      reply.resource(await deliveries.read(context.db, context.params, actorOf(context, services))),
  }),

  defineRoute({
    ...changing,
    method: 'POST',
    path: '/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver',
    operationId: 'redeliverWebhookDelivery',
    summary: 'Redeliver a delivery',
    description:
      'Attempts the delivery again now, from the start of the schedule and with the same `webhook-id`. A delivery that waits ' +
      'for its next attempt is also attempted now. It is sent before later pending events of its subject. It is rejected while ' +
      'the key of the webhook may not read the event.',
    params: deliveryParams,
    success: { status: 200, description: 'The updated delivery.', schema: WebhookDelivery },
    errors: ['webhook_not_found', 'delivery_not_found', 'webhook_disabled', 'webhook_key_unfit'],
    handler: async context =>
      reply.resource(await deliveries.redeliver(context.db, context.params, actorOf(context, services))),
  }),

  defineRoute({
    ...changing,
    method: 'POST',
    path: '/webhooks/{webhookId}/replay',
    operationId: 'replayWebhook',
    summary: 'Replay events after a cursor',
    description:
      'Delivers all events after the cursor that match the `types` of the webhook, as new deliveries with the same ' +
      '`webhook-id`s, including those that were delivered before. Only one replay can run at a time: another returns 409 until ' +
      'all events up to `latest` of the first have become deliveries. The cursor `latest` skips all events that are not yet ' +
      'deliveries, and ends a running replay; pending deliveries are still sent.',
    params: webhookParams,
    body: NewReplay,
    success: { status: 200, description: 'The range of the replay.', schema: Replay },
    errors: ['webhook_not_found', 'cursor_expired', 'log_restored', 'replay_in_progress'],
    // Changes that were acknowledged before the request must not come after `latest`.
    prepare: () => services.tail.settled(),
    handler: async context => {
      const { db, params, body } = context;
      const actor = actorOf(context, services);
      return reply.resource(await deliveries.replay(db, params.webhookId, body.cursor, actor));
    },
  }),
];
