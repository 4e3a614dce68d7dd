import { randomUUID } from 'node:crypto';
import { ApiError } from '../../contract/errors.ts';
import type { Queries, Transaction, Writer } from '../../db/database.ts';
import type { Listing } from '../../db/select-page.ts';
import { mapPage, type Page } from '../../kit/paging.ts';
import * as eventLog from '../event-log/event-log.ts';
import { selectEnds } from '../event-log/event-queries.ts';
import { isConfidential } from '../event-log/event-types.ts';
import {
  ATTEMPTS_TOLD,
  type Replay,
  subjectOfTest,
  TEST_TYPE,
  testPayload,
  toDelivery,
  toDetails,
  type WebhookDelivery,
  type WebhookDeliveryDetails,
} from './delivery.ts';
import {
  type DeliveryRow,
  type DeliverySort,
  deleteDeliveriesOf,
  deleteFinishedBefore,
  holdBackLater,
  insertDelivery,
  isSubjectLeased,
  releaseNext,
  selectAttempts,
  selectDeliveries,
  selectDelivery,
  updateDelivery,
} from './delivery-queries.ts';
import { toWebhook } from './webhook.ts';
import {
  deleteSecretsExpiredBefore,
  deleteWebhook,
  selectDeletedWebhooks,
  updatePosition,
  type WebhookRow,
} from './webhook-queries.ts';
import { type Asking, foundToChange, read as readWebhook } from './webhooks.ts';

/** Deliveries deleted in one transaction. */
const SWEPT_AT_ONCE = 1_000;

/** Which delivery of which webhook. */
export interface DeliveryIds {
  webhookId: number;
  deliveryId: number;
}

export async function list(
  db: Queries,
  webhookId: number,
  { status }: { status?: DeliveryRow['status'] | undefined },
  listing: Listing<DeliverySort>,
  { isAdministrator }: Asking,
): Promise<Page<WebhookDelivery>> {
  await readWebhook(db, webhookId);
  const page = await selectDeliveries(db, webhookId, { status }, listing);
  // Left out here and not in the query, which would read on until it had found enough others.
  const items = page.items.filter(({ type }) => isAdministrator || !isConfidential(type));
  return mapPage({ ...page, items }, toDelivery);
}

export async function read(db: Queries, ids: DeliveryIds, asking: Asking): Promise<WebhookDeliveryDetails> {
  await readWebhook(db, ids.webhookId);
  const row = await found(db, ids, asking);
  return toDetails(row, (await selectAttempts(db, row.id, ATTEMPTS_TOLD)).reverse());
}

/** Sends a test: it is delivered as events are, but tried only once. */
export function test(db: Writer, webhookId: number, now: number): Promise<WebhookDelivery> {
  return db.write(async tx => {
    const row = await foundToChange(tx, webhookId);
    refuseDisabled(row);
    const webhook = toWebhook(row);
    const delivery = {
      webhook_id: webhookId,
      event_id: null,
      type: TEST_TYPE,
      subject: subjectOfTest(webhook),
      payload: testPayload(webhook, `test-${randomUUID()}`, now),
    };
    return toDelivery(await insertDelivery(tx, delivery, now));
  });
}

/** Has a delivery be tried again, now and from the beginning of the schedule, whatever became of it. */
export function redeliver(db: Writer, ids: DeliveryIds, asking: Asking): Promise<WebhookDelivery> {
  const { now } = asking;
  return db.write(async tx => {
    refuseDisabled(await foundToChange(tx, ids.webhookId));
    const row = await found(tx, ids, asking);
    // It is being sent at this moment.
    if (row.leased_until !== null && row.leased_until > now) return toDelivery(row);
    await holdBackLater(tx, row, now);
    const pending = await updateDelivery(tx, row.id, {
      ...{ status: 'pending', attempts: row.attempts, failures: 0, finished_at: null },
      next_attempt_at: null,
    });
    if (await isSubjectLeased(tx, row, now)) return toDelivery(pending);
    await releaseNext(tx, row.webhook_id, row.subject, now);
    return toDelivery((await selectDelivery(tx, ids.webhookId, ids.deliveryId))!);
  });
}

/** Delivers everything after a cursor once more, as new deliveries. */
export function replay(db: Writer, webhookId: number, cursor: string): Promise<Replay> {
  return db.write(async tx => {
    await foundToChange(tx, webhookId);
    const position = await eventLog.positionOf(tx, cursor);
    const { latest } = await selectEnds(tx);
    await updatePosition(tx, webhookId, position);
    return { webhookId, cursor: String(position), latest: String(latest) };
  });
}

/**
 * Deletes a slice of the deliveries that were finished before `before`, of the deliveries of deleted webhooks, and of
 * secrets whose grace is over. Returns whether there may be more. Instants are in milliseconds since the Unix epoch.
 */
export async function sweep(db: Queries, { before, now }: { before: number; now: number }): Promise<boolean> {
  await deleteSecretsExpiredBefore(db, now);
  if ((await deleteFinishedBefore(db, before, SWEPT_AT_ONCE)) === SWEPT_AT_ONCE) return true;
  const [deleted] = await selectDeletedWebhooks(db);
  if (!deleted) return false;
  if ((await deleteDeliveriesOf(db, deleted.id, SWEPT_AT_ONCE)) < SWEPT_AT_ONCE)
    await deleteWebhook(db, deleted.id);
  return true;
}

/** Deliveries of events for administrators are for administrators, too. */
async function found(
  db: Queries | Transaction,
  { webhookId, deliveryId }: DeliveryIds,
  { isAdministrator }: Asking,
): Promise<DeliveryRow> {
  const row = await selectDelivery(db, webhookId, deliveryId);
  if (row && (isAdministrator || !isConfidential(row.type))) return row;
  throw new ApiError('delivery_not_found', `Webhook ${webhookId} has no delivery ${deliveryId}`);
}

function refuseDisabled({ id, enabled }: WebhookRow): void {
  if (enabled === 1) return;
  throw new ApiError('webhook_disabled', `Webhook ${id} is disabled; enable it first`);
}
