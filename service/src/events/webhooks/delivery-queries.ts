import { assignedId, integer, nullable, text } from '../../db/columns.ts';
import { one, type Queries, type Statements, type Transaction } from '../../db/database.ts';
import { defineList } from '../../db/define-list.ts';
import { is, type QueryOf } from '../../db/list.ts';
import { recordsSql } from '../../db/records-sql.ts';
import { type ResourceOf, Table } from '../../db/table.ts';
import type { WebhookRow } from './webhook-queries.ts';

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

const COLUMNS = deliveryTable.columns;

/** The types of records. */
const INT = 'BIGINT';
const TEXT = 'TEXT';

export interface NewDelivery extends Pick<DeliveryRow, 'event_id' | 'type' | 'subject' | 'next_attempt_at'> {
  payload: string;
}

/** The state of a delivery after an attempt or a request to redeliver it. */
export type DeliveryChange = Pick<
  DeliveryRow,
  'id' | 'status' | 'attempts' | 'failures' | 'next_attempt_at' | 'finished_at'
>;

export interface LeasedDelivery extends DeliveryRow {
  leased_until: number;
  payload: string;
}

export interface HeldDelivery extends DeliveryRow {
  /** 1 if an earlier delivery of the subject is pending, because a client requested its redelivery. */
  has_earlier: 0 | 1;
}

/**
 * Makes PostgreSQL use the indexes for the rest of the transaction. It plans a statement once: a plan from the time when the
 * tables were small would scan whole tables after they have grown.
 */
export async function readByIndex(tx: Transaction): Promise<void> {
  if (tx.engine === 'postgres') await tx.run('SET LOCAL enable_seqscan = off');
}

/** Returns which of these subjects have pending deliveries of a webhook. */
export async function selectBusySubjects(
  db: Queries,
  webhookId: number,
  subjects: readonly string[],
): Promise<Set<string>> {
  const rows = subjects.map(subject => ({ subject }));
  const [wanted, json] = recordsSql(db.engine, { subject: TEXT }, rows);
  const busy = await db.all<{ subject: string }>(
    `SELECT subject FROM ${wanted} AS wanted WHERE EXISTS (
       SELECT 1 FROM webhook_deliveries AS pending
       WHERE pending.webhook_id = ? AND pending.subject = wanted.subject AND pending.status = 'pending'
     )`,
    [json, webhookId],
  );
  return new Set(busy.map(({ subject }) => subject));
}

/** Adds deliveries of a webhook in their order. */
export function insertDeliveries(
  db: Statements,
  webhookId: number,
  deliveries: readonly NewDelivery[],
  now: number,
): Promise<number> {
  const [planned, json] = recordsSql(
    db.engine,
    { place: INT, event_id: INT, type: TEXT, subject: TEXT, payload: TEXT, next_attempt_at: INT },
    deliveries.map((delivery, place) => ({ place, ...delivery })),
  );
  return db.run(
    `INSERT INTO webhook_deliveries (webhook_id, event_id, type, subject, payload, status, next_attempt_at, created_at)
     SELECT CAST(? AS BIGINT), event_id, type, subject, payload, 'pending', next_attempt_at, CAST(? AS BIGINT)
     FROM ${planned} AS planned ORDER BY place`,
    [webhookId, now, json],
  );
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

/** Returns how many deliveries of a webhook are being sent: those with a lease until a time up to `latest`. */
export async function countLeased(
  db: Queries,
  webhookId: number,
  { now, latest }: { now: number; latest: number },
): Promise<number> {
  const { leased } = await one<{ leased: number }>(
    db,
    `SELECT count(*) AS leased FROM webhook_deliveries
     WHERE webhook_id = ? AND status = 'pending' AND leased_until > ? AND leased_until <= ?`,
    [webhookId, now, latest],
  );
  return leased;
}

/**
 * Leases up to `limit` due deliveries of a webhook, those due longest first. Deliveries whose lease or next attempt is later than
 * `latest` are due, too.
 */
export function leaseDue(
  db: Statements,
  webhookId: number,
  {
    now,
    until,
    latest,
    limit,
  }: { now: number; until: number; latest: { lease: number; attempt: number }; limit: number },
): Promise<LeasedDelivery[]> {
  return db.all(
    `UPDATE webhook_deliveries SET leased_until = ?, next_attempt_at = ? WHERE id IN (
       SELECT id FROM (
         SELECT id, next_attempt_at FROM (
           SELECT id, next_attempt_at FROM webhook_deliveries
           WHERE webhook_id = ? AND status = 'pending' AND next_attempt_at <= ? ORDER BY next_attempt_at, id LIMIT ?
         ) AS due
         UNION SELECT id, next_attempt_at FROM webhook_deliveries
         WHERE webhook_id = ? AND status = 'pending' AND next_attempt_at > ?
         UNION SELECT id, next_attempt_at FROM webhook_deliveries
         WHERE webhook_id = ? AND status = 'pending' AND leased_until IS NOT NULL AND leased_until > ?
       ) AS found ORDER BY next_attempt_at, id LIMIT ?
     ) RETURNING ${COLUMNS}, payload`,
    [until, until, webhookId, now, limit, webhookId, latest.attempt, webhookId, latest.lease, limit],
  );
}

/** Leases the delivery of one event to a webhook, if it is due. */
export function leaseEvent(
  db: Statements,
  { id, last_event_id }: Pick<WebhookRow, 'id' | 'last_event_id'>,
  { now, until, latest }: { now: number; until: number; latest: { lease: number; attempt: number } },
): Promise<LeasedDelivery[]> {
  return db.all(
    `UPDATE webhook_deliveries SET leased_until = ?, next_attempt_at = ?
     WHERE webhook_id = ? AND status = 'pending' AND event_id = ?
       AND (next_attempt_at <= ? OR next_attempt_at > ? OR leased_until > ?)
     RETURNING ${COLUMNS}, payload`,
    [until, until, id, last_event_id, now, latest.attempt, latest.lease],
  );
}

/** Sets pending deliveries to dead. */
const END =
  "UPDATE webhook_deliveries SET status = 'dead', next_attempt_at = NULL, leased_until = NULL, finished_at = ?";

/** Ends the deliveries of a subject that are not finished: the webhook sends only one more event. */
export function endDeliveries(
  db: Statements,
  webhookId: number,
  subject: string,
  now: number,
): Promise<number> {
  return db.run(`${END} WHERE webhook_id = ? AND subject = ? AND status = 'pending'`, [
    now,
    webhookId,
    subject,
  ]);
}

/** Ends up to `limit` deliveries of a webhook that was disabled before `before`. Returns how many. */
export function endWaiting(
  db: Statements,
  webhookId: number,
  { before, now, limit }: { before: number; now: number; limit: number },
): Promise<number> {
  return db.run(
    `${END} WHERE id IN (
       SELECT id FROM webhook_deliveries WHERE webhook_id = ? AND status = 'pending'
         AND EXISTS (SELECT 1 FROM webhooks WHERE id = webhook_id AND disabled_at < ?) ORDER BY id LIMIT ?
     )`,
    [now, webhookId, before, limit],
  );
}

/** Whether the delivery of an event to a webhook is not finished. */
export async function isEventPending(db: Queries, webhookId: number, eventId: number): Promise<boolean> {
  const found = await db.get(
    "SELECT 1 FROM webhook_deliveries WHERE webhook_id = ? AND status = 'pending' AND event_id = ? LIMIT 1",
    [webhookId, eventId],
  );
  return found !== undefined;
}

/** Returns the deliveries whose lease is still the one from their claim. */
export function selectHeld(
  db: Queries,
  deliveries: readonly Pick<LeasedDelivery, 'id' | 'leased_until'>[],
): Promise<HeldDelivery[]> {
  const [ended, json] = recordsSql(db.engine, { id: INT, leased_until: INT }, deliveries);
  const columns = COLUMNS.split(', ').map(column => `held.${column}`);
  return db.all(
    `SELECT ${columns.join(', ')}, CASE WHEN EXISTS (
       SELECT 1 FROM webhook_deliveries AS earlier
       WHERE earlier.webhook_id = held.webhook_id AND earlier.subject = held.subject AND earlier.status = 'pending'
         AND earlier.id < held.id
     ) THEN 1 ELSE 0 END AS has_earlier
     FROM ${ended} AS ended JOIN webhook_deliveries AS held
       ON held.id = ended.id AND held.leased_until = ended.leased_until`,
    [json],
  );
}

/** Sets the states of deliveries and ends their leases. */
export async function updateDeliveries(db: Statements, changes: readonly DeliveryChange[]): Promise<void> {
  const [changed, json] = recordsSql(
    db.engine,
    { id: INT, status: TEXT, attempts: INT, failures: INT, next_attempt_at: INT, finished_at: INT },
    changes,
  );
  await db.run(
    `UPDATE webhook_deliveries SET status = state.status, attempts = state.attempts, failures = state.failures,
       next_attempt_at = state.next_attempt_at, leased_until = NULL, finished_at = state.finished_at
     FROM ${changed} AS state WHERE webhook_deliveries.id = state.id`,
    [json],
  );
}

/** Makes the first pending delivery of each subject due, unless it is already due or being sent. */
export async function releaseFirst(
  db: Statements,
  webhookId: number,
  subjects: readonly string[],
  now: number,
): Promise<void> {
  if (subjects.length === 0) return;
  const rows = subjects.map(subject => ({ subject }));
  const [finished, json] = recordsSql(db.engine, { subject: TEXT }, rows);
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

/** Returns the delivery of a subject, other than this one, that is due, waits for a retry or is being sent. */
export function selectScheduled(
  db: Queries,
  { id, webhook_id, subject }: Pick<DeliveryRow, 'id' | 'webhook_id' | 'subject'>,
): Promise<DeliveryRow | undefined> {
  return db.get(
    `SELECT ${COLUMNS} FROM webhook_deliveries
     WHERE webhook_id = ? AND subject = ? AND status = 'pending' AND id <> ? AND next_attempt_at IS NOT NULL LIMIT 1`,
    [webhook_id, subject, id],
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

/** Returns the delivery of a webhook that was planned last. */
export function selectLastDelivery(db: Queries, webhookId: number): Promise<DeliveryRow> {
  return one(db, `SELECT ${COLUMNS} FROM webhook_deliveries WHERE webhook_id = ? ORDER BY id DESC LIMIT 1`, [
    webhookId,
  ]);
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
