import { setTimeout as sleep } from 'node:timers/promises';
import { type Context, command } from '../command.ts';
import { changes, defined, each, eachDone, pageSize } from '../items.ts';
import { noteSecret } from '../note-secret.ts';
import { flag, id, integer, oneOf, position, removable, required, several, text } from '../parameters.ts';
import {
  createdWebhook,
  delivery,
  deliveryDetails,
  outcome,
  replay as replayed,
  rotatedWebhook,
  webhook,
} from '../resources.ts';

const one = required(id('The webhook'));
const ids = several(required(id('The webhooks')));
const type = several(text('Only events of this type, such as order.*; can be repeated', 'type'));

const list = command({
  name: 'webhooks list',
  summary: 'List webhooks',
  options: { sort: oneOf('The order; a leading - means descending', 'id', '-id') },
  examples: ['petstore webhooks list'],
  operations: ['GET /webhooks'],
  output: 'list',
  prints: webhook,
  run: (context, { sort }) => context.store.webhooks.list({ ...pageSize(context), sort }, context.calls),
});

const get = command({
  name: 'webhooks get',
  summary: 'Show webhooks',
  arguments: { ids },
  examples: ['petstore webhooks get 1'],
  operations: ['GET /webhooks/{webhookId}'],
  output: 'items',
  prints: webhook,
  run: (context, { ids }) => each(context, ids, id => context.store.webhooks.get(id, context.calls)),
});

const create = command({
  name: 'webhooks create',
  aliases: ['webhooks add'],
  summary: 'Create a webhook, and show its secret once',
  arguments: { endpoint: required(text('The URL to send events to', 'endpoint')) },
  options: {
    type,
    description: text('What the webhook is for'),
    disabled: flag('Send nothing until the webhook is enabled'),
  },
  examples: ["petstore webhooks create https://shop.example/hook --type 'order.*'"],
  operations: ['POST /webhooks'],
  output: 'item',
  prints: createdWebhook,
  run: (context, { endpoint, type, description, disabled }) => {
    const types = type.length > 0 ? type : undefined;
    const enabled = disabled ? false : undefined;
    const fields = defined({ url: endpoint, types, description, enabled });
    return noteSecret(context, 'webhooks', context.store.webhooks.create(fields, context.calls));
  },
});

const update = command({
  name: 'webhooks update',
  summary: 'Change, enable or disable a webhook',
  arguments: { id: one },
  options: {
    endpoint: text('The URL to send events to', 'url'),
    type,
    allTypes: flag('Send events of all types'),
    description: removable('What the webhook is for'),
    enabled: oneOf('Whether to send events', 'true', 'false'),
  },
  examples: ['petstore webhooks update 1 --enabled true', "petstore webhooks update 1 --type 'pet.*'"],
  operations: ['PATCH /webhooks/{webhookId}'],
  output: 'item',
  prints: webhook,
  run: ({ store, calls }, { id, endpoint, type, allTypes, description, enabled }) => {
    const types = allTypes ? null : type.length > 0 ? type : undefined;
    const fields = { url: endpoint, types, description, enabled: enabled && enabled === 'true' };
    return store.webhooks.update(id, changes(fields), calls);
  },
});

const remove = command({
  name: 'webhooks delete',
  confirms: 'Delete webhooks',
  summary: 'Delete webhooks',
  arguments: { ids },
  examples: ['petstore webhooks delete 1'],
  operations: ['DELETE /webhooks/{webhookId}'],
  output: 'items',
  prints: outcome,
  run: (context, { ids }) =>
    eachDone(context, ids, 'deleted', id => context.store.webhooks.delete(id, context.calls)),
});

const rotate = command({
  name: 'webhooks rotate',
  summary: 'Replace the secret of a webhook, and show the new one once',
  arguments: { id: one },
  options: {
    grace: integer('How long messages are also signed with the earlier secret; 86400 unless set', 'seconds'),
  },
  examples: ['petstore webhooks rotate 1', 'petstore webhooks rotate 1 --grace 0'],
  operations: ['POST /webhooks/{webhookId}/rotate'],
  output: 'item',
  prints: rotatedWebhook,
  run: (context, { id, grace }) =>
    noteSecret(
      context,
      'webhooks',
      context.store.webhooks.rotate(id, defined({ graceSeconds: grace }), context.calls),
    ),
});

const test = command({
  name: 'webhooks test',
  summary: 'Send a test event to a webhook',
  arguments: { id: one },
  options: { wait: flag('Wait until the endpoint has responded, and show its response') },
  examples: ['petstore webhooks test 1', 'petstore webhooks test 1 --wait'],
  operations: [
    'POST /webhooks/{webhookId}/test',
    'GET /webhooks/{webhookId}/deliveries/{deliveryId}',
    'GET /webhooks/{webhookId}',
  ],
  output: 'item',
  prints: deliveryDetails,
  run: testWebhook,
});

/** The pauses between looks at a delivery, in milliseconds: the first, and the longest. */
const PAUSES = [100, 2000] as const;

/** Sends a test event. With `wait` it yields the delivery after its first attempt, and throws if the endpoint did not accept it. */
async function* testWebhook(
  { store, calls, note }: Context,
  { id, wait }: { id: number; wait: true | undefined },
): AsyncGenerator<object> {
  const sent = await store.webhooks.test(id, calls);
  if (!wait) {
    yield sent;
    return;
  }
  note('Waiting for the response of the endpoint; Ctrl-C ends …');
  for (let [pause, longest]: number[] = [...PAUSES]; ; pause = Math.min(longest!, pause! * 2)) {
    const delivery = await store.webhooks.getDelivery(id, sent.id, { signal: calls.signal });
    if (delivery.attemptCount > 0) {
      yield delivery;
      if (delivery.status === 'delivered') return;
      throw new Error(`The endpoint did not accept the test event: ${delivery.attempts.at(-1)?.error}`);
    }
    const { enabled, disabledReason } = await store.webhooks.get(id, { signal: calls.signal });
    // Its deliveries are not attempted until it is enabled again.
    if (!enabled)
      throw new Error(
        `Webhook ${id} was disabled before it received the test event${disabledReason ? ` (${disabledReason})` : ''}: ` +
          `run \`petstore webhooks update ${id} --enabled true\``,
      );
    await sleep(pause, undefined, calls.signal && { signal: calls.signal });
  }
}

const deliveries = command({
  name: 'webhooks deliveries',
  summary: 'List the deliveries of a webhook, latest first',
  arguments: { id: one },
  options: {
    status: oneOf('Only deliveries with this status', 'pending', 'delivered', 'dead'),
    sort: oneOf('The order; a leading - means descending', '-id', 'id'),
  },
  examples: ['petstore webhooks deliveries 1 --status dead'],
  operations: ['GET /webhooks/{webhookId}/deliveries'],
  output: 'list',
  prints: delivery,
  run: (context, { id, status, sort }) =>
    context.store.webhooks.listDeliveries(id, { ...pageSize(context), status, sort }, context.calls),
});

const getDelivery = command({
  name: 'webhooks delivery',
  summary: 'Show a delivery with its attempts',
  arguments: { id: one, delivery: required(id('The delivery')) },
  examples: ['petstore webhooks delivery 1 17'],
  operations: ['GET /webhooks/{webhookId}/deliveries/{deliveryId}'],
  output: 'item',
  prints: deliveryDetails,
  run: ({ store, calls }, { id, delivery }) => store.webhooks.getDelivery(id, delivery, calls),
});

const redeliver = command({
  name: 'webhooks redeliver',
  summary: 'Send deliveries again',
  arguments: { id: one, deliveries: several(required(id('The deliveries'))) },
  examples: ['petstore webhooks redeliver 1 17 18'],
  operations: ['POST /webhooks/{webhookId}/deliveries/{deliveryId}/redeliver'],
  output: 'items',
  prints: delivery,
  run: (context, { id, deliveries }) =>
    each(context, deliveries, delivery => context.store.webhooks.redeliver(id, delivery, context.calls)),
});

const replay = command({
  name: 'webhooks replay',
  summary: 'Send all events after an event again',
  arguments: { id: one },
  options: {
    from: required(
      position(
        'The ID of an event: starts after it; 0 for the first event, if the log still has it; latest ends a running replay',
        'latest',
      ),
    ),
  },
  examples: ['petstore webhooks replay 1 --from 120'],
  operations: ['POST /webhooks/{webhookId}/replay'],
  output: 'item',
  prints: replayed,
  run: ({ store, calls }, { id, from }) => store.webhooks.replay(id, { cursor: from }, calls),
});

export const webhooks = [
  list,
  get,
  create,
  update,
  remove,
  rotate,
  test,
  deliveries,
  getDelivery,
  redeliver,
  replay,
];
