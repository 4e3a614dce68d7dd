import type { Transaction, Writer } from '../../db/database.ts';
import { deleteSlice, sliceOf } from '../../db/delete-slice.ts';
import { endWaiting } from './delivery-queries.ts';
import {
  deleteSecretsExpiredBefore,
  selectDeletedWebhook,
  selectWaitingWebhook,
  webhookTable,
} from './webhook-queries.ts';

/** The maximum number of rows of each table in one slice. A slice takes some milliseconds, and blocks the embedded store. */
const DELIVERIES = 100;
const ATTEMPTS = 1_000;
const SECRETS = 200;

/**
 * Deletes one slice of expired data in one short transaction: secrets after their grace period, deliveries that finished
 * before `before`, and deleted webhooks with their deliveries. Ends the deliveries of webhooks that were disabled before `before`.
 * Returns whether there may be more to do. Times are in milliseconds since the Unix epoch.
 */
export function sweepSlice(db: Writer, { before, now }: { before: number; now: number }): Promise<boolean> {
  return db.write(async tx => {
    // Each step that has changed rows ends the transaction: a change of a webhook takes the lock of the webhook first, and then its row.
    if ((await deleteSecretsExpiredBefore(tx, now, SECRETS)) > 0) return true;
    if (await deleteDeliveries(tx, 'finished_at < ? ORDER BY finished_at', before)) return true;
    if (await endSlice(tx, before, now)) return true;
    const webhook = await selectDeletedWebhook(tx);
    if (!webhook) return false;
    // Otherwise this sweep would find no deliveries while another one has locked them.
    await tx.lock(`webhook ${webhook.id}`);
    const hadDeliveries = await deleteDeliveries(tx, 'webhook_id = ? ORDER BY id', webhook.id);
    if (!hadDeliveries) webhookTable.sendDelete(tx, webhook.id);
    return true;
  });
}

/** Ends deliveries that wait for a disabled webhook, such as one of a revoked key. Returns whether there were any. */
async function endSlice(tx: Transaction, before: number, now: number): Promise<boolean> {
  const webhook = await selectWaitingWebhook(tx, before);
  if (!webhook) return false;
  await tx.lock(`webhook ${webhook.id}`);
  await endWaiting(tx, webhook.id, { before, now, limit: DELIVERIES });
  return true;
}

/** Deletes deliveries after their attempts, of which there can be any number. Returns whether there were any. */
async function deleteDeliveries(
  tx: Transaction,
  which: 'finished_at < ? ORDER BY finished_at' | 'webhook_id = ? ORDER BY id',
  value: number,
): Promise<boolean> {
  const ofDeliveries = `delivery_id IN (${sliceOf(tx.engine, 'webhook_deliveries', 'id', which)})`;
  const values = [value, DELIVERIES, ATTEMPTS];
  const attempts = await deleteSlice(tx, 'webhook_attempts', 'delivery_id, number', ofDeliveries, values);
  if (attempts === ATTEMPTS) return true;
  return (await deleteSlice(tx, 'webhook_deliveries', 'id', which, [value, DELIVERIES])) > 0;
}
