import { EVENT_DAYS } from '../../contract/defaults.ts';
import { pageOf } from '../../contract/page.ts';
import { grouped } from '../../kit/quantities.ts';
import { defineRoute, type Route } from '../../routes/define-route.ts';
import { idParams, nestedIdParams } from '../../routes/id-params.ts';
import { listQuery } from '../../routes/list-query.ts';
import { reply } from '../../routes/reply.ts';
import * as deliveries from './deliveries.ts';
import { deliveryStatuses, NewReplay, Replay, WebhookDelivery, WebhookDeliveryDetails } from './delivery.ts';
import { deliveryList } from './delivery-queries.ts';
import { WINDOW } from './outbox.ts';
import { actorOf, changing, reading, type WebhookServices, webhookParams } from './webhook-routes.ts';

const deliveryParams = nestedIdParams(webhookParams, idParams('deliveryId', 'The delivery.'));

export const deliveryRoutes = ({
  tail,
  readStandings,
}: Pick<WebhookServices, 'tail' | 'readStandings'>): Route[] => [
  defineRoute({
    ...changing,
    method: 'POST',
    path: '/webhooks/{webhookId}/test',
    operationId: 'testWebhook',
    summary: 'Send a test event',
    description:
      'Sends an event of type `webhook.test`, whose `data` is the webhook, and answers with its delivery: read it at ' +
      '`Location` to see what became of it. A test is tried once.',
    params: webhookParams,
    success: { status: 201, description: 'The delivery of the test.', schema: WebhookDelivery },
    errors: ['webhook_not_found', 'webhook_disabled'],
    handler: async context => {
      const { db, params } = context;
      const delivery = await deliveries.test(db, params.webhookId, actorOf(context, readStandings));
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
      `What was sent to the webhook and what is to be, newest first. Finished deliveries are kept for ${EVENT_DAYS} days ` +
      'unless the service is set up otherwise. Events become deliveries as far ahead as earlier ones are done: at most ' +
      `${grouped(WINDOW.pending)} are pending, of which at most ${grouped(WINDOW.untried)} could be sent at once and were ` +
      'never tried. Later events wait in the log.',
    params: webhookParams,
    query: listQuery(deliveryList, {
      status: {
        type: 'string',
        enum: deliveryStatuses,
        description: 'Only deliveries with this status.',
      },
    }),
    success: pageOf(WebhookDelivery, 'A page of deliveries.'),
    errors: ['webhook_not_found'],
    handler: async context => {
      const { db, params, query } = context;
      const actor = actorOf(context, readStandings);
      return reply.page(await deliveries.list(db, params.webhookId, query, actor));
    },
  }),

  defineRoute({
    ...reading,
    method: 'GET',
    path: '/webhooks/{webhookId}/deliveries/{deliveryId}',
    operationId: 'getWebhookDelivery',
    summary: 'Read a delivery',
    description: 'The delivery with its attempts: how long each took, and how the answer began.',
    params: deliveryParams,
    success: { status: 200, description: 'The delivery.', schema: WebhookDeliveryDetails },
    conditional: true,
    errors: ['webhook_not_found', 'delivery_not_found'],
    handler: async context =>
      reply.resource(await deliveries.read(context.db, context.params, actorOf(context, readStandings))),
  }),

  defineRoute({
    ...changing,
    method: 'POST',
    path: '/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver',
    operationId: 'redeliverWebhookDelivery',
    summary: 'Deliver once more',
    description:
      'The delivery is tried again now, and from the beginning of the schedule, under the same `webhook-id`; one that ' +
      'waits for its next attempt need not wait. It goes before later events of its subject that are still to be delivered.',
    params: deliveryParams,
    success: { status: 200, description: 'The delivery as it is now.', schema: WebhookDelivery },
    errors: ['webhook_not_found', 'delivery_not_found', 'webhook_disabled'],
    handler: async context => {
      const actor = actorOf(context, readStandings);
      const delivery = await deliveries.redeliver(context.db, context.params, actor);
      return reply.resource(delivery);
    },
  }),

  defineRoute({
    ...changing,
    method: 'POST',
    path: '/webhooks/{webhookId}/replay',
    operationId: 'replayWebhook',
    summary: 'Deliver everything after a cursor',
    description:
      'All events after the cursor that the webhook gets are delivered, once more where they were before, as new ' +
      'deliveries under the same `webhook-id`s. One replay at a time: another is a 409 until all events up to ' +
      '`latest` of the first have become deliveries. From the cursor `latest` the webhook passes over what it has not got yet, which also ends a ' +
      'replay; what is pending already is still sent.',
    params: webhookParams,
    body: NewReplay,
    success: { status: 200, description: 'From where to where.', schema: Replay },
    errors: ['webhook_not_found', 'cursor_expired', 'replay_in_progress'],
    // What was acknowledged before the request is not after `latest`.
    prepare: () => tail.settled(),
    handler: async context => {
      const { db, params, body } = context;
      const actor = actorOf(context, readStandings);
      const replay = await deliveries.replay(db, params.webhookId, body.cursor, actor);
      return reply.resource(replay);
    },
  }),
];
