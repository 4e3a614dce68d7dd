import { dateTime, id, int32, MAX_INT32 } from '../../contract/schema.ts';
import { shape } from '../../contract/shape.ts';
import type { Static } from '../../contract/static.ts';
import { formatDateTime } from '../../kit/dates.ts';
import { grouped } from '../../kit/quantities.ts';
import { eventCursor } from '../event-log/event.ts';
import { eventTypeText, TEST_TYPE } from '../event-log/event-types.ts';
import type { AttemptRow } from './attempt-queries.ts';
import { type DeliveryRow, deliveryStatuses } from './delivery-queries.ts';
import { isSent } from './delivery-rules.ts';

/** How many attempts the details of a delivery show, the last ones: a delivery can be redelivered any number of times. */
export const ATTEMPTS_SHOWN = 100;

/** How much of the body of a response is stored, in bytes; the rest is not read. */
export const RESPONSE_STORED = 1_024;

/** The number of an event in the log, as text. */
const eventNumber = { type: 'string', pattern: '^(0|[1-9][0-9]{0,15})$' } as const;

const natural = { ...int32, minimum: 0, maximum: MAX_INT32 } as const;
const positive = { ...natural, minimum: 1 } as const;

/** A text that is stored up to a limit. */
const start = { type: 'string', maxLength: RESPONSE_STORED, nullable: true } as const;

const fields = {
  id: { ...id, description: 'Unique identifier of the delivery.' },
  webhookId: { ...id, description: 'The webhook.' },
  messageId: {
    type: 'string',
    maxLength: 100,
    pattern: '^msg_[1-9][0-9]*_[1-9][0-9]*$',
    description: 'The `webhook-id` header. It is the same each time this event is sent to this webhook.',
  },
  eventId: { ...eventNumber, description: 'The `id` of the event in the log.' },
  type: eventTypeText,
  subject: {
    type: 'string',
    maxLength: 100,
    description: 'The resource that changed. Events of one subject are delivered in order.',
  },
  status: {
    type: 'string',
    enum: deliveryStatuses,
    description:
      'A `dead` delivery failed in all its attempts, its webhook was disabled for as many days as events are retained, or the key of ' +
      'the webhook may no longer read its event. It can be redelivered while the webhook is enabled and its key may read the event.',
  },
  attemptCount: { ...natural, description: 'The number of attempts.' },
  nextAttemptAt: {
    ...dateTime,
    nullable: true,
    description:
      'When the next attempt is due, unless the webhook is disabled; null while the delivery is being sent, waits for an ' +
      'earlier delivery of its subject, or is finished.',
  },
  createdAt: { ...dateTime, description: 'When the delivery was created.' },
  finishedAt: { ...dateTime, nullable: true, description: 'When it was delivered or became `dead`.' },
} as const;

const example = {
  id: 7,
  webhookId: 1,
  messageId: 'msg_1_1042',
  eventId: '1042',
  type: 'order.placed',
  subject: 'store/orders/15',
  status: 'pending',
  attemptCount: 1,
  nextAttemptAt: '2026-11-21T12:00:05.000Z',
  createdAt: '2026-11-21T12:00:00.000Z',
  finishedAt: null,
} as const;

export const WebhookDelivery = shape({
  title: 'WebhookDelivery',
  properties: fields,
  example,
});

/** The delivery of a test, which was not attempted yet. */
export const exampleOfTest = {
  ...example,
  type: TEST_TYPE,
  subject: 'webhooks/1',
  attemptCount: 0,
  nextAttemptAt: example.createdAt,
} as const;

const attemptFields = {
  number: { ...positive, description: '1 for the first attempt of the delivery.' },
  startedAt: { ...dateTime, description: 'When the attempt started.' },
  durationMs: { ...natural, description: 'How long the attempt took, in milliseconds.' },
  status: {
    ...int32,
    minimum: 100,
    maximum: 999,
    nullable: true,
    description: 'The status of the response; null if there was none.',
  },
  error: { ...start, description: 'Why the attempt failed; null if it succeeded.' },
  responseStart: {
    ...start,
    description: `The first ${grouped(RESPONSE_STORED)} bytes of the body of the response; null if there was none.`,
  },
} as const;

const WebhookAttempt = shape({
  title: 'WebhookAttempt',
  properties: attemptFields,
  example: {
    number: 1,
    startedAt: '2026-11-21T12:00:00.000Z',
    durationMs: 84,
    status: 503,
    error: 'Status 503',
    responseStart: 'Come back later',
  },
});

export const WebhookDeliveryDetails = shape({
  title: 'WebhookDeliveryDetails',
  properties: {
    ...fields,
    attempts: {
      type: 'array',
      items: WebhookAttempt,
      maxItems: ATTEMPTS_SHOWN,
      description: `The last ${ATTEMPTS_SHOWN} attempts, oldest first.`,
    },
  },
  example: { ...example, attempts: [WebhookAttempt.example] },
});

export const NewReplay = shape({
  title: 'NewReplay',
  properties: {
    cursor: {
      ...eventCursor,
      description:
        'The `id` of an event, `latest`, or, while no event has expired, `0` for the start of the log.',
    },
  },
  example: { cursor: '0' },
});

export const Replay = shape({
  title: 'Replay',
  properties: {
    webhookId: { ...id, description: 'The webhook.' },
    cursor: {
      ...eventNumber,
      description: 'Events after this one are delivered, again or for the first time.',
    },
    latest: { ...eventNumber, description: 'The latest event of the log.' },
  },
  example: { webhookId: 1, cursor: '0', latest: '1042' },
});

export type WebhookDelivery = Static<typeof WebhookDelivery>;
export type WebhookDeliveryDetails = Static<typeof WebhookDeliveryDetails>;
export type Replay = Static<typeof Replay>;

export function messageId({ webhook_id, event_id }: Pick<DeliveryRow, 'webhook_id' | 'event_id'>) {
  return `msg_${webhook_id}_${event_id}`;
}

export function toDelivery(row: DeliveryRow, now: number): WebhookDelivery {
  return {
    id: row.id,
    webhookId: row.webhook_id,
    messageId: messageId(row),
    eventId: String(row.event_id),
    type: row.type,
    subject: row.subject,
    status: row.status,
    attemptCount: row.attempts,
    nextAttemptAt:
      row.next_attempt_at === null || isSent(row, now) ? null : formatDateTime(row.next_attempt_at),
    createdAt: formatDateTime(row.created_at),
    finishedAt: row.finished_at === null ? null : formatDateTime(row.finished_at),
  };
}

export function toDetails(
  row: DeliveryRow,
  attempts: readonly AttemptRow[],
  now: number,
): WebhookDeliveryDetails {
  return {
    ...toDelivery(row, now),
    attempts: attempts.map(attempt => ({
      number: attempt.number,
      startedAt: formatDateTime(attempt.started_at),
      durationMs: attempt.duration_ms,
      status: attempt.status,
      error: attempt.error,
      responseStart: attempt.response_start,
    })),
  };
}
