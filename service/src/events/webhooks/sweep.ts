import type { Transaction, Writer } from '../../db/database.ts';
import {
  deleteAttempts,
  deleteDeliveries,
  selectDeliveriesOf,
  selectFinishedBefore,
} from './delivery-queries.ts';
import { deleteSecretsExpiredBefore, deleteWebhook, selectDeletedWebhook } from './webhook-queries.ts';

/** The most rows of each table in one slice. While it runs, some milliseconds, the embedded store serves nothing else. */
const DELIVERIES = 100;
const ATTEMPTS = 1_000;
const SECRETS = 200;

/**
 * Deletes some of what is no longer needed, in one short transaction: secrets whose grace is over, deliveries that were
 * finished before `before`, and deleted webhooks with all that they leave. Returns whether there is more to delete.
 * Instants are in milliseconds since the Unix epoch.
 */
export function sweepSlice(db: Writer, { before, now }: { before: number; now: number }): Promise<boolean> {
  return db.write(async tx => {
    if ((await deleteSecretsExpiredBefore(tx, now, SECRETS)) === SECRETS) return true;
    const finished = await selectFinishedBefore(tx, before, DELIVERIES);
    if (finished.length > 0) return deleteSome(tx, finished);
    const webhook = await selectDeletedWebhook(tx);
    if (!webhook) return false;
    const left = await selectDeliveriesOf(tx, webhook.id, DELIVERIES);
    if (left.length > 0) return deleteSome(tx, left);
    await deleteWebhook(tx, webhook.id);
    return true;
  });
}

/** Deletes deliveries once their attempts are gone, which can be any number. There may always be more. */
async function deleteSome(tx: Transaction, deliveryIds: readonly number[]): Promise<true> {
  const deleted = await deleteAttempts(tx, deliveryIds, ATTEMPTS);
  if (deleted < ATTEMPTS) await deleteDeliveries(tx, deliveryIds);
  return true;
}
