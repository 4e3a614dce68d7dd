import { EventKind } from '../event-log/event-kind.ts';
import { TEST_TYPE } from '../event-log/event-types.ts';
import { Webhook } from './webhook.ts';

export const webhookTestEvents = new EventKind({
  title: 'WebhookTestEvent',
  types: [TEST_TYPE],
  data: Webhook,
});
