import type { DayUse } from '../../counters/key-states.ts';
import type { Queries, Statements } from '../../db/database.ts';
import { deleteSlice } from '../../db/delete-slice.ts';
import { forUpdate, recordsSql } from '../../db/records-sql.ts';
import { latestCredible, MINUTE } from '../../kit/clock.ts';

/** A row with these columns. */
type RowOf<Columns> = {
  -readonly [Column in keyof Columns]: Columns[Column] extends 'TEXT' ? string : number;
};

const limitColumns = {
  api_key_id: 'BIGINT',
  resets: 'BIGINT',
  minute: 'BIGINT',
  minute_used: 'BIGINT',
  full_minutes: 'BIGINT',
  busy_minute: 'BIGINT',
  busy_limit: 'BIGINT',
  rejected_at: 'BIGINT',
  wait_until: 'BIGINT',
  strikes: 'TEXT',
  banned_at: 'BIGINT',
  banned_until: 'BIGINT',
  bans: 'BIGINT',
} as const;

export type LimitRow = RowOf<typeof limitColumns>;

/** A limit row, with the usage of a day since the same reset; null when there was none. */
interface LimitRowOfDay extends LimitRow {
  admitted: number | null;
  rejected: number | null;
}

/** Reads the limits of every key, with its usage on `day` (in days since the Unix epoch). */
export function selectLimits(db: Queries, day: number): Promise<LimitRowOfDay[]> {
  return db.all(
    `SELECT l.*, u.admitted, u.rejected
     FROM key_limits l LEFT JOIN key_usage u ON u.api_key_id = l.api_key_id AND u.day = ? AND u.resets = l.resets`,
    [day],
  );
}

/** Reads the windows, strikes and bans of some keys, and locks these rows until the transaction ends. */
export function selectLimitsOf(db: Queries, keyIds: readonly number[]): Promise<LimitRow[]> {
  const rows = keyIds.map(api_key_id => ({ api_key_id }));
  const [keys, json] = recordsSql(db.engine, { api_key_id: 'BIGINT' }, rows);
  return db.all(
    `SELECT l.* FROM ${keys} AS k JOIN key_limits l ON l.api_key_id = k.api_key_id
     ORDER BY l.api_key_id ${forUpdate(db.engine, 'l')}`,
    [json],
  );
}

/** Inserts or replaces the windows, strikes and bans of keys. */
export async function upsertLimits(db: Statements, rows: readonly LimitRow[]): Promise<void> {
  const [states, json] = recordsSql(db.engine, limitColumns, rows);
  await db.run(upsertSql('key_limits', limitColumns, ['api_key_id'], states), [json]);
}

/** The usage of a day: since the last reset, and before it (`earlier_…`). */
const usageColumns = {
  api_key_id: 'BIGINT',
  day: 'BIGINT',
  resets: 'BIGINT',
  admitted: 'BIGINT',
  rejected: 'BIGINT',
  earlier_admitted: 'BIGINT',
  earlier_rejected: 'BIGINT',
} as const;

export type UsageRow = RowOf<typeof usageColumns>;

/** Reads the usage of some keys on some days, and locks these rows until the transaction ends. */
export function selectUsageOf(
  db: Queries,
  days: readonly Pick<DayUse, 'keyId' | 'day'>[],
): Promise<UsageRow[]> {
  const rows = days.map(({ keyId, day }) => ({ api_key_id: keyId, day }));
  const [requested, json] = recordsSql(db.engine, { api_key_id: 'BIGINT', day: 'BIGINT' }, rows);
  return db.all(
    `SELECT u.* FROM ${requested} AS r JOIN key_usage u ON u.api_key_id = r.api_key_id AND u.day = r.day
     ORDER BY u.api_key_id, u.day ${forUpdate(db.engine, 'u')}`,
    [json],
  );
}

/** Inserts or replaces the usage of keys on days. Each key and day must occur only once. */
export async function upsertUsage(db: Statements, rows: readonly UsageRow[]): Promise<void> {
  const [days, json] = recordsSql(db.engine, usageColumns, rows);
  await db.run(upsertSql('key_usage', usageColumns, ['api_key_id', 'day'], days), [json]);
}

/**
 * Returns a statement that inserts the rows of `rows`, a table for a FROM clause, or replaces those with the same key. It skips
 * rows of API keys that do not exist: the database can lose its last commits while replicas run.
 */
function upsertSql(table: string, columns: object, key: readonly string[], rows: string): string {
  const names = Object.keys(columns);
  const updates = names.filter(name => !key.includes(name)).map(name => `${name} = excluded.${name}`);
  return `INSERT INTO ${table} (${names.join(', ')}) SELECT ${names.join(', ')} FROM ${rows} AS new_rows
     WHERE EXISTS (SELECT 1 FROM api_keys WHERE api_keys.id = new_rows.api_key_id)
     ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${updates.join(', ')}`;
}

/**
 * Stores the minutes in which keys were last used, in milliseconds since the Unix epoch. A later stored minute stays, unless
 * it is so far in the future that it is from a clock that ran ahead.
 */
export async function updateLastUsed(
  db: Statements,
  keys: readonly { api_key_id: number; last_used_at: number }[],
): Promise<void> {
  const rows = keys.map(key => ({ ...key, latest: latestCredible(key.last_used_at + MINUTE) }));
  const [used, json] = recordsSql(
    db.engine,
    { api_key_id: 'BIGINT', last_used_at: 'BIGINT', latest: 'BIGINT' },
    rows,
  );
  await db.run(
    `UPDATE api_keys SET last_used_at = used.last_used_at FROM ${used} AS used
     WHERE api_keys.id = used.api_key_id
       AND (coalesce(api_keys.last_used_at, 0) < used.last_used_at OR api_keys.last_used_at > used.latest)`,
    [json],
  );
}

/** Who used a key in a minute. */
export interface KeyUse {
  /** In milliseconds since the Unix epoch. */
  minute: number;
  address: string | null;
  /** The header User-Agent. */
  client: string | null;
}

/**
 * Stores who used keys in a minute. If the stored minute is later, the stored address and client stay, unless that minute is so far in
 * the future that it is from a clock that ran ahead.
 */
export async function updateLastClients(
  db: Statements,
  uses: readonly (readonly [keyId: number, use: KeyUse])[],
): Promise<void> {
  const rows = uses.map(([api_key_id, use]) => ({
    api_key_id,
    ...use,
    latest: latestCredible(use.minute + MINUTE),
  }));
  const [used, json] = recordsSql(
    db.engine,
    { api_key_id: 'BIGINT', minute: 'BIGINT', address: 'TEXT', client: 'TEXT', latest: 'BIGINT' },
    rows,
  );
  await db.run(
    `UPDATE api_keys SET last_used_from = used.address, last_used_client = used.client FROM ${used} AS used
     WHERE api_keys.id = used.api_key_id
       AND (coalesce(api_keys.last_used_at, 0) <= used.minute OR api_keys.last_used_at > used.latest)`,
    [json],
  );
}

/** Reads the usage of a key by day from `firstDay` on, the latest first. */
export function selectUsage(db: Queries, keyId: number, firstDay: number): Promise<UsageRow[]> {
  return db.all(
    `SELECT * FROM key_usage
     WHERE api_key_id = ? AND day >= ? ORDER BY day DESC`,
    [keyId, firstDay],
  );
}

/** The requests of a key on a day. */
interface RequestsOfKey {
  api_key_id: number;
  name: string;
  admitted: number;
  rejected: number;
}

/** As the index `key_usage_by_requests` has it. */
const REQUESTS = '(admitted + rejected + earlier_admitted + earlier_rejected)';

/** Reads at most `limit` keys with requests on `day`, those with the most requests first. */
export function selectBusiestKeys(db: Queries, day: number, limit: number): Promise<RequestsOfKey[]> {
  return db.all(
    `SELECT api_key_id, name, admitted + earlier_admitted AS admitted, rejected + earlier_rejected AS rejected
     FROM (
       SELECT * FROM key_usage WHERE day = ? ORDER BY day DESC, ${REQUESTS} DESC, api_key_id DESC LIMIT ?
     ) AS busiest JOIN api_keys ON api_keys.id = api_key_id
     ORDER BY ${REQUESTS} DESC, api_key_id DESC`,
    [day, limit],
  );
}

/** Deletes at most `limit` rows of usage before `day`. Resolves with the number of deleted rows. */
export function deleteUsageBefore(db: Statements, day: number, limit: number): Promise<number> {
  return deleteSlice(db, 'key_usage', 'api_key_id, day', 'day < ? ORDER BY day', [day, limit]);
}

/** Deletes usage after `day` from a clock that ran ahead: it would be shown when that day comes. */
export function deleteUsageAfter(db: Statements, day: number, limit: number): Promise<number> {
  return deleteSlice(db, 'key_usage', 'api_key_id, day', 'day > ? ORDER BY day', [day, limit]);
}

/**
 * Bounds of limits that no longer matter: their key has had no request since `minute`, and its ban ended before `bannedUntil`. Times
 * after `latest` are from a clock that ran ahead, and do not matter either.
 */
export interface Spent {
  minute: number;
  bannedUntil: number;
  /** Milliseconds since the Unix epoch. */
  latest: number;
}

const SPENT = '(minute < ? OR minute > ?) AND (banned_until < ? OR banned_at > ?)';

function valuesOf({ minute, bannedUntil, latest }: Spent): number[] {
  return [minute, Math.floor(latest / MINUTE), bannedUntil, latest];
}

/**
 * Checks the next `limit` keys after the ID `after`. Resolves with the last ID (null when there are none), the number of
 * keys, and the number of spent keys.
 */
export async function selectSpentLimits(
  db: Queries,
  spent: Spent,
  { after, limit }: { after: number; limit: number },
): Promise<{ last: number | null; keys: number; spent: number }> {
  const row = await db.get<{ last: number | null; keys: number; spent: number }>(
    `SELECT max(api_key_id) AS last, count(*) AS keys, count(CASE WHEN ${SPENT} THEN 1 END) AS spent
     FROM (SELECT * FROM key_limits WHERE api_key_id > ? ORDER BY api_key_id LIMIT ?) AS next_keys`,
    [...valuesOf(spent), after, limit],
  );
  return row!;
}

/** Deletes the limits of spent keys whose IDs are greater than `after` and at most `upTo`. */
export function deleteSpentLimits(
  db: Statements,
  spent: Spent,
  { after, upTo }: { after: number; upTo: number },
): Promise<number> {
  return db.run(`DELETE FROM key_limits WHERE api_key_id > ? AND api_key_id <= ? AND ${SPENT}`, [
    ...[after, upTo],
    ...valuesOf(spent),
  ]);
}
