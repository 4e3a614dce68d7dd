import type { DayUse } from '../../counters/counters.ts';
import type { LimitState } from '../../counters/decide.ts';
import type { Queries } from '../../db/database.ts';
import { latestCredible, MINUTE } from '../../kit/clock.ts';

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
  resets: number;
  admitted: number | null;
  refused: number | null;
}

/** What was kept of every key, with its use of `day` (days since the Unix epoch) since the same reset. */
export function selectLimits(db: Queries, day: number): Promise<LimitRow[]> {
  return db.all(
    `SELECT l.*, u.admitted, u.refused
     FROM key_limits l LEFT JOIN key_usage u ON u.api_key_id = l.api_key_id AND u.day = ? AND u.resets = l.resets`,
    [day],
  );
}

/**
 * Keeps the windows, strikes and bans of a key. Several processes may keep the same key: of two views of it the one of the
 * later minute, or with more requests in it, is the later. A ban goes by its own end, and one that was lifted does no harm.
 * What is stored gives way when a clock that ran ahead wrote it. After a reset nothing from before is kept.
 */
export async function upsertLimits(db: Queries, keyId: number, state: LimitState): Promise<void> {
  const latest = latestCredible(state.seenAt);
  await db.run(
    `INSERT INTO key_limits
       (api_key_id, resets, minute, minute_used, told_at, told_until, strikes, banned_at, banned_until, bans)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (api_key_id) DO UPDATE SET
       resets = excluded.resets,
       ${viewColumns.map(column => `${column} = ${laterView(column)}`).join(', ')},
       ${banColumns.map(column => `${column} = ${laterBan(column)}`).join(', ')}
     WHERE excluded.resets >= key_limits.resets`,
    [
      keyId,
      state.resets,
      state.minute,
      state.minuteUsed,
      state.toldAt,
      state.toldUntil,
      JSON.stringify(state.strikes),
      state.bannedAt,
      state.bannedUntil,
      state.bans,
      ...viewColumns.map(() => Math.floor(latest / MINUTE)),
      ...banColumns.map(() => latest),
    ],
  );
}

const viewColumns = ['minute', 'minute_used', 'told_at', 'told_until', 'strikes'] as const;
const banColumns = ['banned_at', 'banned_until', 'bans'] as const;

function laterView(column: string): string {
  return `CASE WHEN excluded.resets > key_limits.resets OR key_limits.minute > ?
    OR excluded.minute > key_limits.minute
    OR (excluded.minute = key_limits.minute AND excluded.minute_used >= key_limits.minute_used)
    THEN excluded.${column} ELSE key_limits.${column} END`;
}

function laterBan(column: string): string {
  return `CASE WHEN excluded.resets > key_limits.resets OR key_limits.banned_at > ?
    OR excluded.banned_until >= key_limits.banned_until
    THEN excluded.${column} ELSE key_limits.${column} END`;
}

/**
 * Keeps what a key did on a day. Counts only grow, so of two the larger is the later. After a reset they begin again, and
 * what was counted before is added to the earlier use of the day; what still comes from before is too late.
 */
export async function upsertUsage(
  db: Queries,
  { keyId, resets, day, admitted, refused }: DayUse,
): Promise<void> {
  await db.run(
    `INSERT INTO key_usage (api_key_id, day, resets, admitted, refused) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (api_key_id, day) DO UPDATE SET
       resets = excluded.resets,
       ${['admitted', 'refused'].map(count => `${count} = ${laterCount(count)}, earlier_${count} = ${earlierCount(count)}`).join(', ')}
     WHERE excluded.resets >= key_usage.resets`,
    [keyId, day, resets, admitted, refused],
  );
}

function laterCount(column: string): string {
  return `CASE WHEN excluded.resets > key_usage.resets OR excluded.${column} > key_usage.${column}
    THEN excluded.${column} ELSE key_usage.${column} END`;
}

function earlierCount(column: string): string {
  return `key_usage.earlier_${column} + CASE WHEN excluded.resets > key_usage.resets
    THEN key_usage.${column} ELSE 0 END`;
}

/**
 * Notes the minute in which a key was last used, in milliseconds since the Unix epoch, unless a later one is stored that is
 * credible by the end of that minute.
 */
export async function updateLastUsed(db: Queries, keyId: number, lastUsedAt: number): Promise<void> {
  await db.run(
    `UPDATE api_keys SET last_used_at = ?
     WHERE id = ? AND (coalesce(last_used_at, 0) < ? OR last_used_at > ?)`,
    [lastUsedAt, keyId, lastUsedAt, latestCredible(lastUsedAt + MINUTE)],
  );
}

/** The use of a day: since the last reset that it is known from, and before that. */
export interface UsageRow extends Omit<DayUse, 'keyId'> {
  earlier_admitted: number;
  earlier_refused: number;
}

/** The days of a key from `firstDay` on, the latest first. */
export function selectUsage(db: Queries, keyId: number, firstDay: number): Promise<UsageRow[]> {
  return db.all(
    `SELECT day, resets, admitted, refused, earlier_admitted, earlier_refused FROM key_usage
     WHERE api_key_id = ? AND day >= ? ORDER BY day DESC`,
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

/** Deletes use from after `day`, which a clock that ran ahead counted: it would count when that day comes. */
export function deleteUsageAfter(db: Queries, day: number, limit: number): Promise<number> {
  return db.run(
    `DELETE FROM key_usage WHERE (api_key_id, day) IN (
       SELECT api_key_id, day FROM key_usage WHERE day > ? ORDER BY day LIMIT ?
     )`,
    [day, limit],
  );
}

/**
 * Keys that were neither used since `minute` nor banned since `bannedUntil`, and whose wait had ended before `toldUntil`.
 * What begins after `latest` is as good as past.
 */
export interface Spent {
  minute: number;
  toldUntil: number;
  bannedUntil: number;
  /** Milliseconds since the Unix epoch. */
  latest: number;
}

const SPENT = `(minute < ? OR minute > ?) AND (told_until < ? OR told_at > ?)
  AND (banned_until < ? OR banned_at > ?)`;

function valuesOf({ minute, toldUntil, bannedUntil, latest }: Spent): number[] {
  return [minute, Math.floor(latest / MINUTE), toldUntil, latest, bannedUntil, latest];
}

/** Looks through the next `limit` keys after `after`: the last of them (null for none), how many, and how many are spent. */
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

/** Deletes what is stored of spent keys whose IDs are greater than `after` and at most `upTo`. */
export function deleteSpentLimits(
  db: Queries,
  spent: Spent,
  { after, upTo }: { after: number; upTo: number },
): Promise<number> {
  return db.run(`DELETE FROM key_limits WHERE api_key_id > ? AND api_key_id <= ? AND ${SPENT}`, [
    ...[after, upTo],
    ...valuesOf(spent),
  ]);
}
