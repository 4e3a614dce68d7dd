import { assignedId, integer, nullable, text } from '../../db/columns.ts';
import { one, type Queries } from '../../db/database.ts';
import { defineList, is, type QueryOf } from '../../db/list.ts';
import { isOneOf } from '../../db/select-page.ts';
import { type ResourceOf, Table } from '../../db/table.ts';

export const deliveryStatuses = ['pending', 'delivered', 'dead'] as const;

/** Deliveries as they are stored; rows are not converted. Times are in milliseconds since the Unix epoch. */
const deliveryTable = new Table('webhook_deliveries', {
  id: assignedId,
  webhook_id: integer('webhook_id'),
  event_id: integer('event_id'),
  type: text('type'),
  subject: text('subject'),
  status: text<(typeof deliveryStatuses)[number]>('status'),
  attempts: integer('attempts'),
  failures: integer('failures'),
  next_attempt_at: nullable(integer('next_attempt_at')),
  leased_until: nullable(integer('leased_until')),
  created_at: integer('created_at'),
  finished_at: nullable(integer('finished_at')),
});

export type DeliveryRow = ResourceOf<typeof deliveryTable>;

export const COLUMNS = deliveryTable.columns;

export type NewDelivery = Pick<DeliveryRow, 'webhook_id' | 'event_id' | 'type' | 'subject'> & {
  payload: string;
};

/** Adds a delivery. It is due now, unless an earlier delivery of its subject is pending. */
export function insertDelivery(
  db: Queries,
  { webhook_id, event_id, type, subject, payload }: NewDelivery,
  now: number,
): Promise<DeliveryRow> {
  return one(
    db,
    `INSERT INTO webhook_deliveries (webhook_id, event_id, type, subject, payload, status, next_attempt_at, created_at)
     VALUES (?, ?, ?, ?, ?, 'pending', CASE WHEN EXISTS (
       SELECT 1 FROM webhook_deliveries WHERE webhook_id = ? AND subject = ? AND status = 'pending'
     ) THEN NULL ELSE CAST(? AS BIGINT) END, ?) RETURNING ${COLUMNS}`,
    [webhook_id, event_id, type, subject, payload, webhook_id, subject, now, now],
  );
}

export function selectDelivery(
  db: Queries,
  webhookId: number,
  deliveryId: number,
): Promise<DeliveryRow | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM webhook_deliveries WHERE id = ? AND webhook_id = ?`, [
    deliveryId,
    webhookId,
  ]);
}

export interface Backlog {
  /** Deliveries that were never attempted and do not wait for an earlier one. */
  untried: number;
  pending: number;
}

/** Counts the deliveries of a webhook that are not finished, each kind up to its limit. */
export function countBacklog(db: Queries, webhookId: number, upTo: Readonly<Backlog>): Promise<Backlog> {
  return one(
    db,
    `SELECT (SELECT count(*) FROM (
         SELECT 1 FROM webhook_deliveries
         WHERE webhook_id = ? AND status = 'pending' AND attempts = 0 AND next_attempt_at IS NOT NULL LIMIT ?
       ) AS some_untried) AS untried,
       (SELECT count(*) FROM (
         SELECT 1 FROM webhook_deliveries WHERE webhook_id = ? AND status = 'pending' LIMIT ?
       ) AS some_pending) AS pending`,
    [webhookId, upTo.untried, webhookId, upTo.pending],
  );
}

/**
 * Returns how many deliveries of enabled webhooks are pending, counted up to `deliveries`, and when the oldest of them was
 * created, among those of the first `webhooks`; null if there is none.
 */
export function selectBacklog(
  db: Queries,
  upTo: { deliveries: number; webhooks: number },
): Promise<{ pending: number; oldest: number | null }> {
  return one(
    db,
    `SELECT (SELECT count(*) FROM (
         SELECT 1 FROM webhooks JOIN webhook_deliveries ON webhook_id = webhooks.id AND status = 'pending'
         WHERE enabled = 1 AND deleted_at IS NULL LIMIT ?
       ) AS some_pending) AS pending,
       (SELECT min(oldest) FROM (
         SELECT (
           SELECT webhook_deliveries.created_at FROM webhook_deliveries
           WHERE webhook_id = webhooks.id AND status = 'pending' ORDER BY webhook_deliveries.id LIMIT 1
         ) AS oldest FROM webhooks WHERE enabled = 1 AND deleted_at IS NULL ORDER BY id LIMIT ?
       ) AS of_webhooks) AS oldest`,
    [upTo.deliveries, upTo.webhooks],
  );
}

/** Returns how many deliveries of a webhook are being sent. */
export async function countLeased(db: Queries, webhookId: number, now: number): Promise<number> {
  const { leased } = await one<{ leased: number }>(
    db,
    `SELECT count(*) AS leased FROM webhook_deliveries
     WHERE webhook_id = ? AND status = 'pending' AND leased_until > ?`,
    [webhookId, now],
  );
  return leased;
}

export interface LeasedDelivery extends DeliveryRow {
  leased_until: number;
  payload: string;
}

/** Leases up to `limit` due deliveries of a webhook, those due longest first. */
export function leaseDue(
  db: Queries,
  webhookId: number,
  { now, until, limit }: { now: number; until: number; limit: number },
): Promise<LeasedDelivery[]> {
  return db.all(
    `UPDATE webhook_deliveries SET leased_until = ?, next_attempt_at = ? WHERE id IN (
       SELECT id FROM webhook_deliveries WHERE webhook_id = ? AND status = 'pending' AND next_attempt_at <= ?
       ORDER BY next_attempt_at, id LIMIT ?
     ) RETURNING ${COLUMNS}, payload`,
    [until, until, webhookId, now, limit],
  );
}

/**
 * Makes up to `limit` deliveries due whose lease ends after `lease` or whose next attempt is after `attempt`. Returns how many.
 */
export function dueAgain(
  db: Queries,
  webhookId: number,
  { lease, attempt, now, limit }: { lease: number; attempt: number; now: number; limit: number },
): Promise<number> {
  return db.run(
    `UPDATE webhook_deliveries SET leased_until = NULL, next_attempt_at = ? WHERE id IN (
       SELECT id FROM (
         SELECT id FROM webhook_deliveries WHERE webhook_id = ? AND leased_until IS NOT NULL AND leased_until > ?
         UNION SELECT id FROM webhook_deliveries WHERE webhook_id = ? AND status = 'pending' AND next_attempt_at > ?
       ) AS ahead LIMIT ?
     ) AND status = 'pending'`,
    [now, webhookId, lease, webhookId, attempt, limit],
  );
}

/** The state of a delivery after an attempt or a request to redeliver it. */
export type DeliveryState = Pick<
  DeliveryRow,
  'status' | 'attempts' | 'failures' | 'next_attempt_at' | 'finished_at'
>;

/** Sets the state of a delivery and ends its lease. */
export function updateDelivery(
  db: Queries,
  deliveryId: number,
  { status, attempts, failures, next_attempt_at, finished_at }: DeliveryState,
): Promise<DeliveryRow> {
  return one(
    db,
    `UPDATE webhook_deliveries SET status = ?, attempts = ?, failures = ?, next_attempt_at = ?, leased_until = NULL,
       finished_at = ? WHERE id = ? RETURNING ${COLUMNS}`,
    [status, attempts, failures, next_attempt_at, finished_at, deliveryId],
  );
}

/** Makes the first pending delivery of a subject due, unless it is already due or being sent. */
export function releaseNext(db: Queries, webhookId: number, subject: string, now: number): Promise<number> {
  return db.run(
    `UPDATE webhook_deliveries SET next_attempt_at = ? WHERE next_attempt_at IS NULL AND id = (
       SELECT min(id) FROM webhook_deliveries WHERE webhook_id = ? AND subject = ? AND status = 'pending'
     )`,
    [now, webhookId, subject],
  );
}

/** Makes the later pending deliveries of a subject wait for this one, except those that are being sent. */
export function holdBackLater(
  db: Queries,
  { id, webhook_id, subject }: Pick<DeliveryRow, 'id' | 'webhook_id' | 'subject'>,
  now: number,
): Promise<number> {
  return db.run(
    `UPDATE webhook_deliveries SET next_attempt_at = NULL, leased_until = NULL
     WHERE webhook_id = ? AND subject = ? AND status = 'pending' AND id > ? AND next_attempt_at IS NOT NULL
       AND (leased_until IS NULL OR leased_until <= ?)`,
    [webhook_id, subject, id, now],
  );
}

/** Whether another delivery of the subject is being sent. */
export async function isSubjectLeased(
  db: Queries,
  { id, webhook_id, subject }: Pick<DeliveryRow, 'id' | 'webhook_id' | 'subject'>,
  now: number,
): Promise<boolean> {
  const row = await db.get(
    `SELECT 1 FROM webhook_deliveries
     WHERE webhook_id = ? AND subject = ? AND status = 'pending' AND id <> ? AND leased_until > ? LIMIT 1`,
    [webhook_id, subject, id, now],
  );
  return row !== undefined;
}

export interface AttemptRow {
  number: number;
  started_at: number;
  duration_ms: number;
  status: number | null;
  error: string | null;
  response_start: string | null;
}

/** Returns the last attempts of a delivery, latest first. */
export function selectAttempts(db: Queries, deliveryId: number, limit: number): Promise<AttemptRow[]> {
  return db.all(
    `SELECT number, started_at, duration_ms, status, error, response_start FROM webhook_attempts
     WHERE delivery_id = ? ORDER BY number DESC LIMIT ?`,
    [deliveryId, limit],
  );
}

/** Returns up to `limit` deliveries that were finished before `instant`, oldest first. */
export function selectFinishedBefore(db: Queries, instant: number, limit: number): Promise<number[]> {
  return idsOf(
    db.all('SELECT id FROM webhook_deliveries WHERE finished_at < ? ORDER BY finished_at LIMIT ?', [
      instant,
      limit,
    ]),
  );
}

export function selectDeliveriesOf(db: Queries, webhookId: number, limit: number): Promise<number[]> {
  return idsOf(
    db.all('SELECT id FROM webhook_deliveries WHERE webhook_id = ? ORDER BY id LIMIT ?', [webhookId, limit]),
  );
}

/** Deletes up to `limit` attempts of these deliveries. Returns how many. */
export function deleteAttempts(db: Queries, deliveryIds: readonly number[], limit: number): Promise<number> {
  const [condition, ids] = isOneOf('delivery_id', deliveryIds);
  return db.run(
    `DELETE FROM webhook_attempts WHERE (delivery_id, number) IN (
       SELECT delivery_id, number FROM webhook_attempts WHERE ${condition} LIMIT ?
     )`,
    [...ids, limit],
  );
}

export function deleteDeliveries(db: Queries, deliveryIds: readonly number[]): Promise<number> {
  const [condition, ids] = isOneOf('id', deliveryIds);
  return db.run(`DELETE FROM webhook_deliveries WHERE ${condition}`, ids);
}

async function idsOf(rows: Promise<{ id: number }[]>): Promise<number[]> {
  return (await rows).map(({ id }) => id);
}

export const deliveryList = defineList(deliveryTable, {
  owner: 'webhook_id',
  filters: {
    status: is('status', {
      type: 'string',
      enum: deliveryStatuses,
      description: 'Deliveries with this status.',
    }),
  },
  sorts: { id: ['id'] },
  defaultSort: '-id',
});

export type DeliveryQuery = QueryOf<typeof deliveryList>;
