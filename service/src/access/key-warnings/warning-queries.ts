import type { Queries, Statements } from '../../db/database.ts';
import { deleteSlice } from '../../db/delete-slice.ts';
import { forUpdate, recordsSql } from '../../db/records-sql.ts';
import type { ApiKeyRow } from '../api-keys/api-key-queries.ts';
import type { PassedQuota } from './quota-rule.ts';
import { MOST_SHOWN } from './quota-warning.ts';

/** What determines the limits of a key. */
export type LimitsRow = Pick<ApiKeyRow, 'id' | 'name' | 'plan' | 'per_minute' | 'per_day'>;

/** Reads the limits of keys. */
export function selectLimitsRows(db: Queries, keyIds: readonly number[]): Promise<LimitsRow[]> {
  const rows = keyIds.map(api_key_id => ({ api_key_id }));
  const [keys, json] = recordsSql(db.engine, { api_key_id: 'BIGINT' }, rows);
  return db.all(
    `SELECT k.id, k.name, k.plan, k.per_minute, k.per_day FROM ${keys} AS counted JOIN api_keys k ON k.id = counted.api_key_id`,
    [json],
  );
}

const columns = {
  api_key_id: 'BIGINT',
  day: 'BIGINT',
  of_window: 'TEXT',
  percent: 'BIGINT',
  quota: 'BIGINT',
  resets: 'BIGINT',
  passed_at: 'BIGINT',
} as const;

export interface QuotaWarningRow extends Pick<PassedQuota, 'day' | 'percent'> {
  api_key_id: number;
  of_window: PassedQuota['window'];
  quota: number;
  /** The `limits_resets` of the key at that time. */
  resets: number;
  /** Milliseconds since the Unix epoch. */
  passed_at: number;
}

const COLUMNS = Object.keys(columns).join(', ');

/** Inserts warnings that were not given yet. Resolves with those. */
export function insertQuotaWarnings(
  db: Statements,
  rows: readonly QuotaWarningRow[],
): Promise<QuotaWarningRow[]> {
  const [warnings, json] = recordsSql(db.engine, columns, rows);
  // Without WHERE, SQLite would parse ON as the condition of a join.
  return db.all(
    `INSERT INTO quota_warnings (${COLUMNS}) SELECT ${COLUMNS} FROM ${warnings} AS passed WHERE true
     ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
    [json],
  );
}

/** Reads the warnings of a key on a day, in days since the Unix epoch, in the order in which they were given. */
export function selectQuotaWarnings(db: Queries, keyId: number, day: number): Promise<QuotaWarningRow[]> {
  return db.all(
    `SELECT ${COLUMNS} FROM quota_warnings WHERE api_key_id = ? AND day = ?
     ORDER BY passed_at, of_window, percent, quota, resets LIMIT ?`,
    [keyId, day, MOST_SHOWN],
  );
}

const WARNING_KEY = 'api_key_id, day, of_window, percent, quota, resets';

/** Deletes at most `limit` warnings of days before `day`. Resolves with the number of deleted warnings. */
export function deleteWarningsBefore(db: Statements, day: number, limit: number): Promise<number> {
  return deleteSlice(db, 'quota_warnings', WARNING_KEY, 'day < ? ORDER BY day', [day, limit]);
}

/** Deletes warnings of days after `day`, from a clock that ran ahead. */
export function deleteWarningsAfter(db: Statements, day: number, limit: number): Promise<number> {
  return deleteSlice(db, 'quota_warnings', WARNING_KEY, 'day > ? ORDER BY day', [day, limit]);
}

type ExpiringRow = Pick<ApiKeyRow, 'id' | 'name' | 'expires_at' | 'revoked_at'>;

/** Reads at most `limit` keys whose next warning is due, and locks them until the transaction ends. */
export function selectExpiring(db: Queries, now: number, limit: number): Promise<ExpiringRow[]> {
  return db.all(
    `SELECT id, name, expires_at, revoked_at FROM api_keys WHERE expiry_warning_at <= ?
     ORDER BY expiry_warning_at LIMIT ? ${forUpdate(db.engine, 'api_keys')}`,
    [now, limit],
  );
}

/** Stores when the next warnings of keys are due. */
export async function updateExpiryWarnings(
  db: Statements,
  rows: readonly { id: number; expiry_warning_at: number | null }[],
): Promise<void> {
  const [next, json] = recordsSql(db.engine, { id: 'BIGINT', expiry_warning_at: 'BIGINT' }, rows);
  await db.run(
    `UPDATE api_keys SET expiry_warning_at = next.expiry_warning_at FROM ${next} AS next WHERE api_keys.id = next.id`,
    [json],
  );
}
