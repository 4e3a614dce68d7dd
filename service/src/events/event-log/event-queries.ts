import type { Queries } from '../../db/database.ts';
import type { EventRow } from './event.ts';
import type { EventFilter } from './event-filter.ts';

/** The number of the latest event, and of the oldest that is kept: one more where none is. */
export interface Ends {
  oldest: number;
  latest: number;
}

const ENDS =
  'last_id AS latest, coalesce((SELECT id FROM events ORDER BY id LIMIT 1), last_id + 1) AS oldest';

/**
 * The events from after `after` up to `upTo` that pass the filter, at most `limit` of them, and the ends of the log: all
 * of one instant, so that no event can expire unseen in between.
 */
export async function selectEvents(
  db: Queries,
  { types, subject }: EventFilter,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<Ends & { events: EventRow[] }> {
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
  const rows = await db.all<Ends & (EventRow | { id: null })>(
    `SELECT ${ENDS}, page.id, page.type, page.subject, page.time, page.data
     FROM event_log LEFT JOIN (
       SELECT id, type, subject, time, data FROM events WHERE ${conditions.join(' AND ')} ORDER BY id LIMIT ?
     ) AS page ON TRUE ORDER BY page.id`,
    [...values, limit],
  );
  const { oldest, latest } = rows[0]!;
  return { oldest, latest, events: rows.filter(row => row.id !== null) };
}

export async function selectEnds(db: Queries): Promise<Ends> {
  return (await db.get<Ends>(`SELECT ${ENDS} FROM event_log`))!;
}

/** The last of the oldest events of which none is of `time` or later, among the first `limit`; null when there is none. */
export async function selectLastBefore(db: Queries, time: number, limit: number): Promise<number | null> {
  const row = await db.get<{ id: number | null }>(
    `SELECT max(id) AS id FROM (
       SELECT id, max(time) OVER (ORDER BY id) AS latest_time
       FROM (SELECT id, time FROM events ORDER BY id LIMIT ?) AS first_events
     ) AS dated WHERE latest_time < ?`,
    [limit, time],
  );
  return row!.id;
}

export async function deleteEventsUpTo(db: Queries, id: number): Promise<void> {
  await db.run('DELETE FROM events WHERE id <= ?', [id]);
}
