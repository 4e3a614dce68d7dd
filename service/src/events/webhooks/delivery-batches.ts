import type { Queries, Transaction } from '../../db/database.ts';
import { recordsSql } from '../../db/records-sql.ts';
import {
  type AttemptRow,
  COLUMNS,
  type DeliveryRow,
  type DeliveryState,
  type LeasedDelivery,
  type NewDelivery,
} from './delivery-queries.ts';

/**
 * Makes PostgreSQL use the indexes for the rest of the transaction. It plans a statement once: a plan from the time when the
 * tables were small would scan whole tables after they have grown.
 */
export async function readByIndex(tx: Transaction): Promise<void> {
  if (tx.engine === 'postgres') await tx.run('SET LOCAL enable_seqscan = off');
}

/** Adds deliveries of a webhook in their order. Each is due now, unless an earlier delivery of its subject is pending. */
export async function insertDeliveries(
  db: Queries,
  webhookId: number,
  deliveries: readonly Omit<NewDelivery, 'webhook_id'>[],
  now: number,
): Promise<void> {
  if (deliveries.length === 0) return;
  const subjects = new Set<string>();
  const rows = deliveries.map(({ event_id, type, subject, payload }, place) => {
    const is_first = subjects.has(subject) ? 0 : 1;
    subjects.add(subject);
    return { place, event_id, type, subject, payload, is_first };
  });
  const [planned, json] = recordsSql(
    db.engine,
    {
      place: 'INTEGER',
      event_id: 'BIGINT',
      type: 'TEXT',
      subject: 'TEXT',
      payload: 'TEXT',
      is_first: 'INTEGER',
    },
    rows,
  );
  await db.run(
    `INSERT INTO webhook_deliveries (webhook_id, event_id, type, subject, payload, status, next_attempt_at, created_at)
     SELECT CAST(? AS BIGINT), event_id, type, subject, payload, 'pending', CASE WHEN is_first = 0 OR EXISTS (
       SELECT 1 FROM webhook_deliveries AS earlier
       WHERE earlier.webhook_id = ? AND earlier.subject = planned.subject AND earlier.status = 'pending'
     ) THEN NULL ELSE CAST(? AS BIGINT) END, CAST(? AS BIGINT)
     FROM ${planned} AS planned ORDER BY place`,
    [webhookId, webhookId, now, now, json],
  );
}

export interface HeldDelivery extends DeliveryRow {
  /** 1 if an earlier delivery of the subject is pending, because a client requested its redelivery. */
  is_waiting: 0 | 1;
}

/** Returns the deliveries whose lease is still the one from their claim. */
export function selectHeld(
  db: Queries,
  deliveries: readonly Pick<LeasedDelivery, 'id' | 'leased_until'>[],
): Promise<HeldDelivery[]> {
  const [ended, json] = recordsSql(db.engine, { id: 'BIGINT', leased_until: 'BIGINT' }, deliveries);
  const columns = COLUMNS.split(', ').map(column => `held.${column}`);
  return db.all(
    `SELECT ${columns.join(', ')}, CASE WHEN EXISTS (
       SELECT 1 FROM webhook_deliveries AS earlier
       WHERE earlier.webhook_id = held.webhook_id AND earlier.subject = held.subject AND earlier.status = 'pending'
         AND earlier.id < held.id
     ) THEN 1 ELSE 0 END AS is_waiting
     FROM ${ended} AS ended JOIN webhook_deliveries AS held
       ON held.id = ended.id AND held.leased_until = ended.leased_until
     WHERE held.status = 'pending'`,
    [json],
  );
}

export async function insertAttempts(
  db: Queries,
  attempts: readonly (AttemptRow & { delivery_id: number })[],
): Promise<void> {
  if (attempts.length === 0) return;
  const [made, json] = recordsSql(
    db.engine,
    {
      delivery_id: 'BIGINT',
      number: 'INTEGER',
      started_at: 'BIGINT',
      duration_ms: 'INTEGER',
      status: 'INTEGER',
      error: 'TEXT',
      response_start: 'TEXT',
    },
    attempts,
  );
  await db.run(
    `INSERT INTO webhook_attempts (delivery_id, number, started_at, duration_ms, status, error, response_start)
     SELECT delivery_id, number, started_at, duration_ms, status, error, response_start FROM ${made} AS made`,
    [json],
  );
}

/** Sets the states of deliveries and ends their leases. */
export async function updateDeliveries(
  db: Queries,
  states: readonly (DeliveryState & { id: number })[],
): Promise<void> {
  const [changed, json] = recordsSql(
    db.engine,
    {
      id: 'BIGINT',
      status: 'TEXT',
      attempts: 'INTEGER',
      failures: 'INTEGER',
      next_attempt_at: 'BIGINT',
      finished_at: 'BIGINT',
    },
    states,
  );
  await db.run(
    `UPDATE webhook_deliveries SET status = state.status, attempts = state.attempts, failures = state.failures,
       next_attempt_at = state.next_attempt_at, leased_until = NULL, finished_at = state.finished_at
     FROM ${changed} AS state WHERE webhook_deliveries.id = state.id`,
    [json],
  );
}

/** Makes the first pending delivery of each subject due, unless it is already due or being sent. */
export async function releaseNextOf(
  db: Queries,
  webhookId: number,
  subjects: readonly string[],
  now: number,
): Promise<void> {
  if (subjects.length === 0) return;
  const rows = subjects.map(subject => ({ subject }));
  const [finished, json] = recordsSql(db.engine, { subject: 'TEXT' }, rows);
  await db.run(
    `UPDATE webhook_deliveries SET next_attempt_at = ? WHERE next_attempt_at IS NULL AND id IN (
       SELECT (
         SELECT min(id) FROM webhook_deliveries AS later
         WHERE later.webhook_id = ? AND later.subject = finished.subject AND later.status = 'pending'
       ) FROM ${finished} AS finished
     )`,
    [now, webhookId, json],
  );
}
