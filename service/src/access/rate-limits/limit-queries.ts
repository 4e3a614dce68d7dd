import type { DayUse } from '../../counters/counters.ts';
import type { LimitState } from '../../counters/decide.ts';
import type { Queries } from '../../db/database.ts';

export interface LimitRow {
  api_key_id: number;
  minute: number;
  minute_used: number;
  told_at: number;
  told_until: number;
  strikes: string;
  banned_at: number;
  banned_until: number;
  bans: number;
  admitted: number | null;
  refused: number | null;
}

/** What was kept of every key, with its use of `day` (days since the Unix epoch). */
export function selectLimits(db: Queries, day: number): Promise<LimitRow[]> {
  return db.all(
    `SELECT l.*, u.admitted, u.refused
     FROM key_limits l LEFT JOIN key_usage u ON u.api_key_id = l.api_key_id AND u.day = ?`,
    [day],
  );
}

/**
 * Keeps the windows, strikes and bans of a key. Several processes may keep the same key: of two views of it the one of the
 * later minute, or with more requests in it, is the later. A ban goes by its own end, and one that was lifted does no harm.
 */
export async function upsertLimits(db: Queries, keyId: number, state: LimitState): Promise<void> {
  await db.run(
    `INSERT INTO key_limits
       (api_key_id, minute, minute_used, told_at, told_until, strikes, banned_at, banned_until, bans)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (api_key_id) DO UPDATE SET
       minute = ${laterView('minute')}, minute_used = ${laterView('minute_used')},
       told_at = ${laterView('told_at')}, told_until = ${laterView('told_until')}, strikes = ${laterView('strikes')},
       banned_at = ${laterBan('banned_at')}, banned_until = ${laterBan('banned_until')}, bans = ${laterBan('bans')}`,
    [
      keyId,
      state.minute,
      state.minuteUsed,
      state.toldAt,
      state.toldUntil,
      JSON.stringify(state.strikes),
      state.bannedAt,
      state.bannedUntil,
      state.bans,
    ],
  );
}

function laterView(column: string): string {
  return `CASE WHEN excluded.minute > key_limits.minute
    OR (excluded.minute = key_limits.minute AND excluded.minute_used >= key_limits.minute_used)
    THEN excluded.${column} ELSE key_limits.${column} END`;
}

function laterBan(column: string): string {
  return `CASE WHEN excluded.banned_until >= key_limits.banned_until
    THEN excluded.${column} ELSE key_limits.${column} END`;
}

/** Keeps what a key did on a day. Counts only grow, so of two the larger is the later. */
export async function upsertUsage(db: Queries, { keyId, day, admitted, refused }: DayUse): Promise<void> {
  await db.run(
    `INSERT INTO key_usage (api_key_id, day, admitted, refused) VALUES (?, ?, ?, ?)
     ON CONFLICT (api_key_id, day) DO UPDATE SET
       admitted = CASE WHEN excluded.admitted > key_usage.admitted THEN excluded.admitted ELSE key_usage.admitted END,
       refused = CASE WHEN excluded.refused > key_usage.refused THEN excluded.refused ELSE key_usage.refused END`,
    [keyId, day, admitted, refused],
  );
}

/** Notes when a key was last used, in milliseconds since the Unix epoch. */
export async function updateLastUsed(db: Queries, keyId: number, lastUsedAt: number): Promise<void> {
  await db.run('UPDATE api_keys SET last_used_at = ? WHERE id = ? AND coalesce(last_used_at, 0) < ?', [
    lastUsedAt,
    keyId,
    lastUsedAt,
  ]);
}

export interface UsageRow {
  day: number;
  admitted: number;
  refused: number;
}

/** The days of a key from `firstDay` on, the latest first. */
export function selectUsage(db: Queries, keyId: number, firstDay: number): Promise<UsageRow[]> {
  return db.all(
    'SELECT day, admitted, refused FROM key_usage WHERE api_key_id = ? AND day >= ? ORDER BY day DESC',
    [keyId, firstDay],
  );
}

/** Deletes use from before `day`, of at most `limit` keys and days. Returns how many rows it deleted. */
export function deleteUsageBefore(db: Queries, day: number, limit: number): Promise<number> {
  return db.run(
    `DELETE FROM key_usage WHERE (api_key_id, day) IN (
       SELECT api_key_id, day FROM key_usage WHERE day < ? ORDER BY day LIMIT ?
     )`,
    [day, limit],
  );
}

/** Keys that were neither used since `minute` nor banned since `bannedUntil`, and whose wait had ended before `toldUntil`. */
export interface Spent {
  minute: number;
  toldUntil: number;
  bannedUntil: number;
}

const SPENT = 'minute < ? AND told_until < ? AND banned_until < ?';

/** Looks through the next `limit` keys after `after`: the last of them (null for none), how many, and how many are spent. */
export async function selectSpentLimits(
  db: Queries,
  { minute, toldUntil, bannedUntil }: Spent,
  { after, limit }: { after: number; limit: number },
): Promise<{ last: number | null; keys: number; spent: number }> {
  const row = await db.get<{ last: number | null; keys: number; spent: number }>(
    `SELECT max(api_key_id) AS last, count(*) AS keys, count(CASE WHEN ${SPENT} THEN 1 END) AS spent
     FROM (SELECT * FROM key_limits WHERE api_key_id > ? ORDER BY api_key_id LIMIT ?) AS next_keys`,
    [minute, toldUntil, bannedUntil, after, limit],
  );
  return row!;
}

/** Deletes what is stored of spent keys whose IDs are greater than `after` and at most `upTo`. */
export function deleteSpentLimits(
  db: Queries,
  { minute, toldUntil, bannedUntil }: Spent,
  { after, upTo }: { after: number; upTo: number },
): Promise<number> {
  return db.run(`DELETE FROM key_limits WHERE api_key_id > ? AND api_key_id <= ? AND ${SPENT}`, [
    ...[after, upTo],
    ...[minute, toldUntil, bannedUntil],
  ]);
}
