import type { Transaction, Writer } from '../../db/database.ts';
import {
  deleteAttempts,
  deleteDeliveries,
  selectDeliveriesOf,
  selectFinishedBefore,
} from './delivery-queries.ts';
import { deleteSecretsExpiredBefore, deleteWebhook, selectDeletedWebhook } from './webhook-queries.ts';

/** The maximum number of rows of each table in one slice. A slice takes some milliseconds, and blocks the embedded store. */
const DELIVERIES = 100;
const ATTEMPTS = 1_000;
const SECRETS = 200;

/**
 * Deletes one slice of expired data in one short transaction: secrets after their grace period, deliveries that finished
 * before `before`, and deleted webhooks with their deliveries. Returns whether there may be more to delete. Times are in
 * milliseconds since the Unix epoch.
 */
export function sweepSlice(db: Writer, { before, now }: { before: number; now: number }): Promise<boolean> {
  return db.write(async tx => {
    if ((await deleteSecretsExpiredBefore(tx, now, SECRETS)) === SECRETS) return true;
    const finished = await selectFinishedBefore(tx, before, DELIVERIES);
    if (finished.length > 0) return deleteSlice(tx, finished);
    const webhook = await selectDeletedWebhook(tx);
    if (!webhook) return false;
    const left = await selectDeliveriesOf(tx, webhook.id, DELIVERIES);
    if (left.length > 0) return deleteSlice(tx, left);
    await deleteWebhook(tx, webhook.id);
    return true;
  });
}

/** Deletes deliveries after their attempts, of which there can be any number. Returns that there may be more. */
async function deleteSlice(tx: Transaction, deliveryIds: readonly number[]): Promise<true> {
  const deleted = await deleteAttempts(tx, deliveryIds, ATTEMPTS);
  if (deleted < ATTEMPTS) await deleteDeliveries(tx, deliveryIds);
  return true;
}
