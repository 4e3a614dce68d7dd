import type { Queries, Transaction } from '../../db/database.ts';
import type { List, SortOf } from '../../db/list.ts';
import { type Listing, selectPage } from '../../db/select-page.ts';
import type { Page } from '../../kit/paging.ts';
import type { OwnerProblem } from './owners.ts';

/** Instants are in milliseconds since the Unix epoch. */
export interface WebhookRow {
  id: number;
  /** The key that created it, to which it belongs. */
  api_key_id: number;
  url: string;
  types: string | null;
  description: string | null;
  enabled: 0 | 1;
  disabled_reason: string | null;
  disabled_at: number | null;
  secret: string;
  previous_secret: string | null;
  previous_secret_expires_at: number | null;
  position: number;
  /** The last event of the latest replay, which is under way until `position` gets there. */
  replay_until: number | null;
  failing_since: number | null;
  created_at: number;
}

const COLUMNS =
  'id, api_key_id, url, types, description, enabled, disabled_reason, disabled_at, secret, previous_secret, ' +
  'previous_secret_expires_at, position, replay_until, failing_since, created_at';

/** What of a webhook can be changed. */
export type WebhookTerms = Pick<
  WebhookRow,
  'url' | 'types' | 'description' | 'disabled_reason' | 'disabled_at' | 'failing_since'
>;

export function insertWebhook(
  db: Queries,
  { url, types, description, disabled_at }: WebhookTerms,
  { apiKeyId, secret, position, now }: { apiKeyId: number; secret: string; position: number; now: number },
): Promise<WebhookRow> {
  return db.get(
    `INSERT INTO webhooks (api_key_id, url, types, description, enabled, disabled_at, secret, position, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${COLUMNS}`,
    [
      ...[apiKeyId, url, types, description],
      ...[disabled_at === null ? 1 : 0, disabled_at, secret, position, now],
    ],
  ) as Promise<WebhookRow>;
}

export function updateWebhook(
  db: Queries,
  webhookId: number,
  { url, types, description, disabled_reason, disabled_at, failing_since }: WebhookTerms,
): Promise<WebhookRow> {
  return db.get(
    `UPDATE webhooks SET url = ?, types = ?, description = ?, enabled = ?, disabled_reason = ?, disabled_at = ?,
       failing_since = ? WHERE id = ? RETURNING ${COLUMNS}`,
    [
      ...[url, types, description],
      ...[disabled_at === null ? 1 : 0, disabled_reason, disabled_at, failing_since, webhookId],
    ],
  ) as Promise<WebhookRow>;
}

export function selectWebhook(db: Queries, webhookId: number): Promise<WebhookRow | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM webhooks WHERE id = ? AND deleted_at IS NULL`, [webhookId]);
}

/** Reads a webhook, and keeps it and its deliveries from other transactions until this one ends. */
export async function selectWebhookToChange(
  tx: Transaction,
  webhookId: number,
): Promise<WebhookRow | undefined> {
  const [, row] = await Promise.all([tx.lock(`webhook ${webhookId}`), selectWebhook(tx, webhookId)]);
  return row;
}

/** The same without waiting: returns `taken` when another transaction has the webhook. */
export async function selectUnlessTaken(
  tx: Transaction,
  webhookId: number,
): Promise<WebhookRow | undefined | 'taken'> {
  const [isFree, row] = await Promise.all([tx.tryLock(`webhook ${webhookId}`), selectWebhook(tx, webhookId)]);
  return isFree ? row : 'taken';
}

export interface WebhookSecrets {
  secret: string;
  previous_secret: string;
  previous_secret_expires_at: number;
}

export function updateSecrets(
  db: Queries,
  webhookId: number,
  { secret, previous_secret, previous_secret_expires_at }: WebhookSecrets,
): Promise<number> {
  return db.run(
    'UPDATE webhooks SET secret = ?, previous_secret = ?, previous_secret_expires_at = ? WHERE id = ?',
    [secret, previous_secret, previous_secret_expires_at, webhookId],
  );
}

/** Deletes previous secrets whose grace ended before `instant`, at most `limit`. Returns how many. */
export function deleteSecretsExpiredBefore(db: Queries, instant: number, limit: number): Promise<number> {
  return db.run(
    `UPDATE webhooks SET previous_secret = NULL, previous_secret_expires_at = NULL WHERE id IN (
       SELECT id FROM webhooks WHERE previous_secret_expires_at < ? LIMIT ?
     )`,
    [instant, limit],
  );
}

export function updatePosition(db: Queries, webhookId: number, position: number): Promise<number> {
  return db.run('UPDATE webhooks SET position = ? WHERE id = ?', [position, webhookId]);
}

/** Sets the position back to where a replay begins, or forward to `latest`; `until` is null where nothing is replayed. */
export function updateReplay(
  db: Queries,
  webhookId: number,
  { position, until }: { position: number; until: number | null },
): Promise<number> {
  return db.run('UPDATE webhooks SET position = ?, replay_until = ? WHERE id = ?', [
    position,
    until,
    webhookId,
  ]);
}

export function updateFailingSince(
  db: Queries,
  webhookId: number,
  failingSince: number | null,
): Promise<number> {
  return db.run('UPDATE webhooks SET failing_since = ? WHERE id = ?', [failingSince, webhookId]);
}

export function disableWebhook(db: Queries, webhookId: number, reason: string, now: number): Promise<number> {
  return db.run('UPDATE webhooks SET enabled = 0, disabled_reason = ?, disabled_at = ? WHERE id = ?', [
    reason,
    now,
    webhookId,
  ]);
}

/** Disables all webhooks of a key that are enabled. */
export function disableWebhooksOf(
  db: Queries,
  keyId: number,
  { reason, since }: OwnerProblem,
): Promise<number> {
  return db.run(
    `UPDATE webhooks SET enabled = 0, disabled_reason = ?, disabled_at = ?
     WHERE api_key_id = ? AND enabled = 1 AND deleted_at IS NULL`,
    [reason, since, keyId],
  );
}

/** Keeps other transactions from creating webhooks of a key until this one ends, and counts them, `limit` at most. */
export async function countWebhooksOf(tx: Transaction, keyId: number, limit: number): Promise<number> {
  const [, row] = await Promise.all([
    tx.lock(`webhooks of key ${keyId}`),
    tx.get<{ webhooks: number }>(
      `SELECT count(*) AS webhooks FROM (
         SELECT 1 FROM webhooks WHERE api_key_id = ? AND deleted_at IS NULL LIMIT ?
       ) AS some_webhooks`,
      [keyId, limit],
    ),
  ]);
  return row!.webhooks;
}

/** Takes a webhook away. Its deliveries, of which there may be many, are swept later; its secrets go now. */
export function markDeleted(db: Queries, webhookId: number, now: number): Promise<number> {
  return db.run(
    `UPDATE webhooks SET deleted_at = ?, secret = '', previous_secret = NULL, previous_secret_expires_at = NULL
     WHERE id = ?`,
    [now, webhookId],
  );
}

/** A deleted webhook whose row is still there; `undefined` when there is none. */
export function selectDeletedWebhook(db: Queries): Promise<{ id: number } | undefined> {
  return db.get('SELECT id FROM webhooks WHERE deleted_at IS NOT NULL ORDER BY id LIMIT 1');
}

export function deleteWebhook(db: Queries, webhookId: number): Promise<number> {
  return db.run('DELETE FROM webhooks WHERE id = ?', [webhookId]);
}

export interface ActiveWebhook
  extends Pick<WebhookRow, 'id' | 'api_key_id' | 'url' | 'position' | 'failing_since'> {
  /** When its next delivery is due, and its last one; null when none is pending. */
  due_at: number | null;
  last_due_at: number | null;
  /** When the last lease of its deliveries ends; null when there is none. */
  leased_until: number | null;
}

/** The webhooks that are enabled and come after one in the order of their IDs, `limit` at most, and what is due to them. */
export function selectActiveWebhooks(db: Queries, after: number, limit: number): Promise<ActiveWebhook[]> {
  return db.all(
    `SELECT id, api_key_id, url, position, failing_since, (
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

export const webhookList = {
  table: 'webhooks',
  columns: COLUMNS,
  where: 'deleted_at IS NULL',
  equal: { api_key_id: null },
  sorts: { id: { id: 'number' } },
  defaultSort: 'id',
  indexes: [
    { name: 'webhooks_listed', order: 1, columns: ['id'] },
    { name: 'webhooks_by_key', order: 2, columns: ['api_key_id', 'id'] },
  ],
} as const satisfies List<WebhookRow>;

export type WebhookSort = SortOf<typeof webhookList>;

/** The webhooks of a key, or all of them. */
export function selectWebhooks(
  db: Queries,
  { keyId }: { keyId: number | undefined },
  listing: Listing<WebhookSort>,
): Promise<Page<WebhookRow>> {
  return selectPage<WebhookRow>(db, webhookList, { equal: { api_key_id: keyId } }, listing);
}
