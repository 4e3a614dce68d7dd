import { ApiError } from '../../contract/errors.ts';
import type { Queries, Transaction, Writer } from '../../db/database.ts';
import { selectPage } from '../../db/select-page.ts';
import { mapPage, type Page } from '../../kit/paging.ts';
import * as eventLog from '../event-log/event-log.ts';
import { selectEnds } from '../event-log/event-queries.ts';
import { TEST_TYPE } from '../event-log/event-types.ts';
import { selectAttempts } from './attempt-queries.ts';
import {
  ATTEMPTS_SHOWN,
  type Replay,
  toDelivery,
  toDetails,
  type WebhookDelivery,
  type WebhookDeliveryDetails,
} from './delivery.ts';
import * as queries from './delivery-queries.ts';
import { isSent, redelivered, withheldReason } from './delivery-rules.ts';
import { type OwnerStanding, problemOf, standingOf } from './owners.ts';
import { addDeliveries } from './serve.ts';
import { nameOf, webhookRedeliveryEvents, webhookReplayEvents, webhookTestEvents } from './webhook-events.ts';
import { updateProgress, type WebhookRow } from './webhook-queries.ts';
import { type Actor, lockWebhook, read as readWebhook } from './webhooks.ts';

/** Identifies a delivery of a webhook. */
export interface DeliveryIds {
  webhookId: number;
  deliveryId: number;
}

export async function list(
  db: Queries,
  webhookId: number,
  query: queries.DeliveryQuery,
  actor: Actor,
): Promise<Page<WebhookDelivery>> {
  await readWebhook(db, webhookId, actor);
  const page = await selectPage(db, queries.deliveryList, query, webhookId);
  return mapPage(page, row => toDelivery(row, actor.now));
}

export async function read(db: Queries, ids: DeliveryIds, actor: Actor): Promise<WebhookDeliveryDetails> {
  await readWebhook(db, ids.webhookId, actor);
  const row = await found(db, ids);
  return toDetails(row, (await selectAttempts(db, row.id, ATTEMPTS_SHOWN)).reverse(), actor.now);
}

/** Appends a test event to the log and sends it. It is delivered like other events, but attempted only once. */
export function test(db: Writer, webhookId: number, actor: Actor, source: string): Promise<WebhookDelivery> {
  const { now } = actor;
  return db.write(async tx => {
    const webhook = await readWebhook(tx, webhookId, actor);
    // All changes wait while an event gets its number, so the service rejects the test before.
    if (!webhook.enabled) throw disabledWebhook(webhookId);
    const event = await webhookTestEvents.appendNumbered(tx, TEST_TYPE, webhookId, webhook);
    // After the number, as a report of a leaked key does: in the opposite order they would deadlock.
    await lockEnabledWebhook(tx, webhookId, actor);
    await addDeliveries(tx, webhookId, [event], { now, source });
    return toDelivery(await queries.selectLastDelivery(tx, webhookId), now);
  });
}

/** Schedules a delivery again, now and from the start of the schedule, in any status. Throws `webhook_key_unfit` if it would be withheld. */
export function redeliver(db: Writer, ids: DeliveryIds, actor: Actor): Promise<WebhookDelivery> {
  const { now } = actor;
  return db.write(async tx => {
    const { row: webhook, owner } = await lockEnabledWebhook(tx, ids.webhookId, actor);
    const row = await found(tx, ids);
    const reason = withheldReason(row, owner);
    if (reason !== undefined) {
      throw new ApiError(
        'webhook_key_unfit',
        `Delivery ${row.id} cannot be sent, because ${reason}: have an administrator change API key ${owner.keyId}`,
      );
    }
    if (isSent(row, now)) return toDelivery(row, now);
    await queries.updateDeliveries(tx, redelivered(row, await queries.selectScheduled(tx, row), now));
    const delivery = toDelivery(await found(tx, ids), now);
    webhookRedeliveryEvents.append(tx, 'webhook.redelivered', ids.webhookId, delivery, {
      name: nameOf(webhook),
    });
    return delivery;
  });
}

/**
 * Delivers all events after a cursor again, as new deliveries. Throws `replay_in_progress` while an earlier replay is under
 * way, unless the cursor skips the rest of it.
 */
export function replay(db: Writer, webhookId: number, cursor: string, actor: Actor): Promise<Replay> {
  return db.write(async tx => {
    const row = await lockWebhook(tx, webhookId, actor);
    const position = await eventLog.positionOf(tx, cursor);
    const { latest } = await selectEnds(tx);
    const goesBack = position < latest;
    if (goesBack) rejectSecondReplay(row);
    await updateProgress(tx, { ...row, position, replay_until: goesBack ? latest : null });
    const replay = { webhookId, cursor: String(position), latest: String(latest) };
    webhookReplayEvents.append(tx, 'webhook.replayed', webhookId, replay, { name: nameOf(row) });
    return replay;
  });
}

async function found(db: Queries, { webhookId, deliveryId }: DeliveryIds): Promise<queries.DeliveryRow> {
  const row = await queries.selectDelivery(db, webhookId, deliveryId);
  if (row) return row;
  throw new ApiError('delivery_not_found', `Webhook ${webhookId} has no delivery ${deliveryId}`);
}

/** Reads and locks a webhook to send to it, and reads its key. Throws `webhook_disabled` if the webhook is disabled. */
async function lockEnabledWebhook(
  tx: Transaction,
  webhookId: number,
  actor: Actor,
): Promise<{ row: WebhookRow; owner: OwnerStanding }> {
  const row = await lockWebhook(tx, webhookId, actor);
  const owner = await standingOf(actor.readStandings, tx, row.api_key_id, actor.now);
  if (row.enabled === 1 && !problemOf(row, owner, actor.now)) return { row, owner };
  throw disabledWebhook(webhookId);
}

function disabledWebhook(webhookId: number): ApiError {
  return new ApiError('webhook_disabled', `Webhook ${webhookId} is disabled; enable it first`);
}

function rejectSecondReplay({ id, position, replay_until }: WebhookRow): void {
  if (replay_until === null || position >= replay_until) return;
  throw new ApiError(
    'replay_in_progress',
    `An earlier replay for webhook ${id} is at event ${position} of ${replay_until}: wait until it ends, or end it with a ` +
      'replay from the cursor `latest`',
  );
}
