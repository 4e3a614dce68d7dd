import type { Queries, Transaction } from '../../db/database.ts';
import type { List, SortOf } from '../../db/list.ts';
import { type Listing, selectPage } from '../../db/select-page.ts';
import type { Page } from '../../kit/paging.ts';

/** Instants are in milliseconds since the Unix epoch. */
export interface WebhookRow {
  id: number;
  confidential_key_id: number | null;
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
  failing_since: number | null;
  created_at: number;
}

const COLUMNS =
  'id, confidential_key_id, url, types, description, enabled, disabled_reason, disabled_at, secret, previous_secret, ' +
  'previous_secret_expires_at, position, failing_since, created_at';

/** What of a webhook can be changed. */
export type WebhookTerms = Pick<
  WebhookRow,
  | 'url'
  | 'types'
  | 'description'
  | 'confidential_key_id'
  | 'disabled_reason'
  | 'disabled_at'
  | 'failing_since'
>;

export function insertWebhook(
  db: Queries,
  { url, types, description, confidential_key_id, disabled_at }: WebhookTerms,
  { apiKeyId, secret, position, now }: { apiKeyId: number; secret: string; position: number; now: number },
): Promise<WebhookRow> {
  return db.get(
    `INSERT INTO webhooks (api_key_id, confidential_key_id, url, types, description, enabled, disabled_at, secret, position,
       created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${COLUMNS}`,
    [
      ...[apiKeyId, confidential_key_id, url, types, description],
      ...[disabled_at === null ? 1 : 0, disabled_at, secret, position, now],
    ],
  ) as Promise<WebhookRow>;
}

export function updateWebhook(
  db: Queries,
  webhookId: number,
  { url, types, description, confidential_key_id, disabled_reason, disabled_at, failing_since }: WebhookTerms,
): Promise<WebhookRow> {
  return db.get(
    `UPDATE webhooks SET url = ?, types = ?, description = ?, confidential_key_id = ?, enabled = ?, disabled_reason = ?,
       disabled_at = ?, failing_since = ? WHERE id = ? RETURNING ${COLUMNS}`,
    [
      ...[url, types, description, confidential_key_id],
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

export interface WebhookSecrets {
  secret: string;
  previous_secret: string;
  previous_secret_expires_at: number;
  confidential_key_id: number | null;
}

export function updateSecrets(
  db: Queries,
  webhookId: number,
  { secret, previous_secret, previous_secret_expires_at, confidential_key_id }: WebhookSecrets,
): Promise<number> {
  return db.run(
    `UPDATE webhooks SET secret = ?, previous_secret = ?, previous_secret_expires_at = ?, confidential_key_id = ?
     WHERE id = ?`,
    [secret, previous_secret, previous_secret_expires_at, confidential_key_id, webhookId],
  );
}

/** Forgets the secrets whose grace is over. */
export function deleteSecretsExpiredBefore(db: Queries, instant: number): Promise<number> {
  return db.run(
    'UPDATE webhooks SET previous_secret = NULL, previous_secret_expires_at = NULL WHERE previous_secret_expires_at < ?',
    [instant],
  );
}

export function updatePosition(db: Queries, webhookId: number, position: number): Promise<number> {
  return db.run('UPDATE webhooks SET position = ? WHERE id = ?', [position, webhookId]);
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

/** Takes a webhook away. Its deliveries, of which there may be many, are swept later; its secrets go now. */
export function markDeleted(db: Queries, webhookId: number, now: number): Promise<number> {
  return db.run(
    `UPDATE webhooks SET deleted_at = ?, secret = '', previous_secret = NULL, previous_secret_expires_at = NULL
     WHERE id = ?`,
    [now, webhookId],
  );
}

export function selectDeletedWebhooks(db: Queries): Promise<{ id: number }[]> {
  return db.all('SELECT id FROM webhooks WHERE deleted_at IS NOT NULL');
}

export function deleteWebhook(db: Queries, webhookId: number): Promise<number> {
  return db.run('DELETE FROM webhooks WHERE id = ?', [webhookId]);
}

export interface ActiveWebhook {
  id: number;
  position: number;
  /** When its next delivery is due; null when none is pending. */
  due_at: number | null;
}

/** The webhooks that are enabled, and what there is to do for them. */
export function selectActiveWebhooks(db: Queries): Promise<ActiveWebhook[]> {
  return db.all(
    `SELECT id, position, (
       SELECT min(next_attempt_at) FROM webhook_deliveries
       WHERE webhook_id = webhooks.id AND status = 'pending' AND next_attempt_at IS NOT NULL
     ) AS due_at
     FROM webhooks WHERE enabled = 1 AND deleted_at IS NULL ORDER BY id`,
  );
}

export const webhookList = {
  table: 'webhooks',
  columns: COLUMNS,
  where: 'deleted_at IS NULL',
  equal: {},
  sorts: { id: { id: 'number' } },
  defaultSort: 'id',
  indexes: [{ name: 'webhooks_listed', order: 1, columns: ['id'] }],
} as const satisfies List<WebhookRow>;

export type WebhookSort = SortOf<typeof webhookList>;

export function selectWebhooks(db: Queries, listing: Listing<WebhookSort>): Promise<Page<WebhookRow>> {
  return selectPage<WebhookRow>(db, webhookList, {}, listing);
}
