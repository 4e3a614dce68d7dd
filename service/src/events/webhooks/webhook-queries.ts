import { assignedId, integer, nullable, text } from '../../db/columns.ts';
import { one, type Queries, type Statements, type Transaction } from '../../db/database.ts';
import { defineList } from '../../db/define-list.ts';
import { sliceOf } from '../../db/delete-slice.ts';
import type { QueryOf } from '../../db/list.ts';
import { forUpdate } from '../../db/records-sql.ts';
import { type ResourceOf, Table } from '../../db/table.ts';
import type { OwnerProblem } from './owners.ts';

/** Webhooks as they are stored; rows are not converted. Times are in milliseconds since the Unix epoch. */
export const webhookTable = new Table('webhooks', {
  id: assignedId,
  /** The key that created the webhook, to which it belongs. */
  api_key_id: integer('api_key_id'),
  url: text('url'),
  types: nullable(text('types')),
  description: nullable(text('description')),
  enabled: integer<0 | 1>('enabled'),
  disabled_reason: nullable(text('disabled_reason')),
  disabled_at: nullable(integer('disabled_at')),
  secret: text('secret'),
  previous_secret: nullable(text('previous_secret')),
  previous_secret_expires_at: nullable(integer('previous_secret_expires_at')),
  position: integer('position'),
  /** The last event of the latest replay, which runs until `position` reaches this event. */
  replay_until: nullable(integer('replay_until')),
  /** The event that is still sent although the key has ended. */
  last_event_id: nullable(integer('last_event_id')),
  failing_since: nullable(integer('failing_since')),
  created_at: integer('created_at'),
  /** A sweep deletes the webhook and its deliveries later, because there may be many. */
  deleted_at: nullable(integer('deleted_at')),
});

export type WebhookRow = ResourceOf<typeof webhookTable>;

const COLUMNS = webhookTable.columns;

export function selectWebhook(db: Queries, webhookId: number): Promise<WebhookRow | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM webhooks WHERE id = ? AND deleted_at IS NULL`, [webhookId]);
}

/** Reads a webhook, and locks it and its deliveries until the transaction ends. */
export async function selectWebhookToChange(
  tx: Transaction,
  webhookId: number,
): Promise<WebhookRow | undefined> {
  // A transaction that revokes a key disables its webhooks without the lock of their deliveries.
  const sql = `SELECT ${COLUMNS} FROM webhooks WHERE id = ? AND deleted_at IS NULL ${forUpdate(tx.engine, 'webhooks')}`;
  const [, row] = await Promise.all([tx.lock(`webhook ${webhookId}`), tx.get<WebhookRow>(sql, [webhookId])]);
  return row;
}

/** Reads a webhook, and locks its deliveries without waiting: returns `taken` if another transaction has locked the webhook. */
export async function selectUnlessTaken(
  tx: Transaction,
  webhookId: number,
): Promise<WebhookRow | undefined | 'taken'> {
  const [isFree, row] = await Promise.all([tx.tryLock(`webhook ${webhookId}`), selectWebhook(tx, webhookId)]);
  return isFree ? row : 'taken';
}

/** Stores how far a webhook is, and since when it fails. */
export function updateProgress(
  db: Statements,
  { id, position, replay_until, failing_since }: WebhookRow,
): Promise<number> {
  return db.run('UPDATE webhooks SET position = ?, replay_until = ?, failing_since = ? WHERE id = ?', [
    position,
    replay_until,
    failing_since,
    id,
  ]);
}

/** Stores that the service has disabled a webhook. */
export function updateDisabled(
  db: Statements,
  { id, disabled_reason, disabled_at }: WebhookRow,
): Promise<number> {
  return db.run('UPDATE webhooks SET enabled = 0, disabled_reason = ?, disabled_at = ? WHERE id = ?', [
    disabled_reason,
    disabled_at,
    id,
  ]);
}

/** Deletes up to `limit` previous secrets whose grace period ended before `instant`. Returns how many. */
export function deleteSecretsExpiredBefore(db: Statements, instant: number, limit: number): Promise<number> {
  return db.run(
    `WITH slice AS (${sliceOf(db.engine, 'webhooks', 'id', 'previous_secret_expires_at < ?')})
     UPDATE webhooks SET previous_secret = NULL, previous_secret_expires_at = NULL WHERE id IN (SELECT * FROM slice)`,
    [instant, limit],
  );
}

/** Returns the IDs of the enabled webhooks of a key. */
export async function selectEnabledOf(db: Queries, keyId: number): Promise<number[]> {
  const rows = await db.all<Pick<WebhookRow, 'id'>>(
    'SELECT id FROM webhooks WHERE api_key_id = ? AND enabled = 1 AND deleted_at IS NULL ORDER BY id',
    [keyId],
  );
  return rows.map(({ id }) => id);
}

/** Stores which event is still sent to a webhook whose key has ended. */
export function updateLastEvent(db: Statements, webhookId: number, eventId: number): Promise<number> {
  return db.run('UPDATE webhooks SET last_event_id = ? WHERE id = ?', [eventId, webhookId]);
}

/** Returns the different `types` of the enabled webhooks of a key. */
export async function selectTypesOfWebhooks(db: Queries, keyId: number): Promise<(string | null)[]> {
  const rows = await db.all<Pick<WebhookRow, 'types'>>(
    'SELECT DISTINCT types FROM webhooks WHERE api_key_id = ? AND enabled = 1 AND deleted_at IS NULL',
    [keyId],
  );
  return rows.map(({ types }) => types);
}

/** Disables the enabled webhooks of a key with these `types`. Returns their new rows. */
export function disableWebhooksOf(
  db: Statements,
  keyId: number,
  types: string | null,
  { reason, since }: OwnerProblem,
): Promise<WebhookRow[]> {
  return db.all(
    `UPDATE webhooks SET enabled = 0, disabled_reason = ?, disabled_at = ?
     WHERE api_key_id = ? AND enabled = 1 AND deleted_at IS NULL AND coalesce(types, '') = ?
     RETURNING ${COLUMNS}`,
    [reason, since, keyId, types ?? ''],
  );
}

/** Counts the webhooks of a key, up to `limit`. Until this transaction ends, no other can create webhooks of the key. */
export async function countWebhooksOf(tx: Transaction, keyId: number, limit: number): Promise<number> {
  const [, { webhooks }] = await Promise.all([
    tx.lock(`webhooks of key ${keyId}`),
    one<{ webhooks: number }>(
      tx,
      `SELECT count(*) AS webhooks FROM (
         SELECT 1 FROM webhooks WHERE api_key_id = ? AND deleted_at IS NULL LIMIT ?
       ) AS some_webhooks`,
      [keyId, limit],
    ),
  ]);
  return webhooks;
}

/** Returns a webhook that is marked as deleted; `undefined` if there is none. */
export function selectDeletedWebhook(db: Queries): Promise<{ id: number } | undefined> {
  return db.get('SELECT id FROM webhooks WHERE deleted_at IS NOT NULL ORDER BY id LIMIT 1');
}

/** Returns a webhook that was disabled before `instant` and has pending deliveries; `undefined` if there is none. */
export function selectWaitingWebhook(db: Queries, instant: number): Promise<{ id: number } | undefined> {
  return db.get(
    `SELECT id FROM webhooks WHERE disabled_at < ? AND deleted_at IS NULL AND EXISTS (
       SELECT 1 FROM webhook_deliveries WHERE webhook_id = webhooks.id AND status = 'pending'
     ) ORDER BY disabled_at LIMIT 1`,
    [instant],
  );
}

export interface ActiveWebhook
  extends Pick<
    WebhookRow,
    'id' | 'api_key_id' | 'url' | 'types' | 'position' | 'last_event_id' | 'failing_since'
  > {
  /** When its next and its last delivery are due; null if none is pending. */
  due_at: number | null;
  last_due_at: number | null;
  /** When the last lease of its deliveries ends; null if there is none. */
  leased_until: number | null;
}

/** Returns up to `limit` enabled webhooks with IDs above `after`, and when their deliveries are due. */
export function selectActiveWebhooks(db: Queries, after: number, limit: number): Promise<ActiveWebhook[]> {
  return db.all(
    `SELECT id, api_key_id, url, types, position, last_event_id, failing_since, (
       SELECT min(next_attempt_at) FROM webhook_deliveries
       WHERE webhook_id = webhooks.id AND status = 'pending' AND next_attempt_at IS NOT NULL
     ) AS due_at, (
       SELECT max(next_attempt_at) FROM webhook_deliveries
       WHERE webhook_id = webhooks.id AND status = 'pending' AND next_attempt_at IS NOT NULL
     ) AS last_due_at, (
       SELECT max(leased_until) FROM webhook_deliveries
       WHERE webhook_id = webhooks.id AND leased_until IS NOT NULL
     ) AS leased_until
     FROM webhooks WHERE enabled = 1 AND deleted_at IS NULL AND id > ? ORDER BY id LIMIT ?`,
    [after, limit],
  );
}

const listed = {
  where: 'deleted_at IS NULL',
  filters: {},
  sorts: { id: ['id'] },
  defaultSort: 'id',
} as const;

/** The webhooks of one key. */
export const webhookList = defineList(webhookTable, { ...listed, owner: 'api_key_id' });

/** The webhooks of all keys, for administrators. */
export const allWebhooksList = defineList(webhookTable, listed);

export type WebhookQuery = QueryOf<typeof webhookList>;

/** The deliveries of enabled webhooks that are not finished, and the webhooks whose attempts fail. */
export interface WebhookBacklog {
  /** At most 10,000 are counted, as the help text of the metric states. */
  pending: number;
  /** How long ago the oldest one of the first 1,000 webhooks was planned, in milliseconds; 0 if there is none. */
  oldestAge: number;
  /** The number of webhooks that fail among the first 1,000. */
  failing: number;
  /** How long the one of them that has failed longest has delivered nothing, in milliseconds; 0 if none fails. */
  longestFailure: number;
}

/** `now` is in milliseconds since the Unix epoch. */
export async function readBacklog(db: Queries, now: number): Promise<WebhookBacklog> {
  const { pending, oldest, failing, since } = await one<{
    pending: number;
    oldest: number | null;
    failing: number;
    since: number | null;
  }>(
    db,
    `SELECT (SELECT count(*) FROM (
         SELECT 1 FROM webhooks JOIN webhook_deliveries ON webhook_id = webhooks.id AND status = 'pending'
         WHERE enabled = 1 AND deleted_at IS NULL LIMIT 10000
       ) AS some_pending) AS pending,
       (SELECT min(oldest) FROM (
         SELECT (
           SELECT webhook_deliveries.created_at FROM webhook_deliveries
           WHERE webhook_id = webhooks.id AND status = 'pending' ORDER BY webhook_deliveries.id LIMIT 1
         ) AS oldest FROM webhooks WHERE enabled = 1 AND deleted_at IS NULL ORDER BY id LIMIT 1000
       ) AS of_webhooks) AS oldest,
       count(failing_since) AS failing, min(failing_since) AS since
     FROM (
       SELECT failing_since FROM webhooks WHERE enabled = 1 AND deleted_at IS NULL ORDER BY id LIMIT 1000
     ) AS first_webhooks`,
  );
  const ageOf = (instant: number | null) => (instant === null ? 0 : Math.max(0, now - instant));
  return { pending, oldestAge: ageOf(oldest), failing, longestFailure: ageOf(since) };
}
