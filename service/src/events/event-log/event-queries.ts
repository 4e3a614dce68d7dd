import type { Queries } from '../../db/database.ts';
import type { EventRow } from './event.ts';
import type { EventFilter } from './event-filter.ts';

/** The events from after `after` up to `upTo` that pass the filter, at most `limit` of them. */
export function selectEvents(
  db: Queries,
  { types, subject }: EventFilter,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<EventRow[]> {
  const conditions = ['id > ?', 'id <= ?'];
  const values: (number | string)[] = [after, upTo];
  if (types) {
    conditions.push(`type IN (${[...types].map(() => '?').join(', ')})`);
    values.push(...types);
  }
  if (subject !== undefined) {
    conditions.push('subject = ?');
    values.push(subject);
  }
  return db.all(
    `SELECT id, type, subject, time, data FROM events WHERE ${conditions.join(' AND ')} ORDER BY id LIMIT ?`,
    [...values, limit],
  );
}

/** The number of the latest event, and of the oldest that is kept: one more where none is. */
export async function selectEnds(db: Queries): Promise<{ oldest: number; latest: number }> {
  const row = await db.get<{ oldest: number; latest: number }>(
    `SELECT last_id AS latest, coalesce((SELECT id FROM events ORDER BY id LIMIT 1), last_id + 1) AS oldest
     FROM event_log`,
  );
  return row!;
}

/** Deletes the oldest events, those before `time`, at most `limit` of them. Answers how many they were. */
export function deleteEventsBefore(db: Queries, time: number, limit: number): Promise<number> {
  return db.run(`DELETE FROM events WHERE time < ? AND id IN (SELECT id FROM events ORDER BY id LIMIT ?)`, [
    time,
    limit,
  ]);
}
