import { one, type Queries } from '../../db/database.ts';
import type { EventRow } from './event.ts';
import type { EventFilter } from './event-filter.ts';
import { typesOfSubject } from './event-types.ts';

/** The number of the latest event, and of the oldest event in the log. `oldest` is `latest + 1` if the log is empty. */
export interface Ends {
  oldest: number;
  latest: number;
}

const ENDS = 'last_id AS latest, coalesce((SELECT min(id) FROM events), last_id + 1) AS oldest';

/**
 * Returns the first `limit` events after `after` that match the filter, oldest first, and the ends of the log. One statement
 * reads both, so that no event can expire in between. The cost depends on `limit` and the number of types, not on the log.
 */
export async function selectEvents(
  db: Queries,
  filter: EventFilter,
  { after, limit }: { after: number; limit: number },
): Promise<Ends & { events: EventRow[] }> {
  const [condition, values] = pageCondition(filter, after, limit);
  const rows = await db.all<Ends & (EventRow | { id: null })>(
    `SELECT ${ENDS}, page.id, page.type, page.subject, page.time, page.data,
       page.actor, page.request_id, page.traceparent
     FROM event_log LEFT JOIN (
       SELECT id, type, subject, time, data, actor, request_id, traceparent FROM events
       WHERE ${condition} ORDER BY id LIMIT ?
     ) AS page ON TRUE ORDER BY page.id`,
    [...values, limit],
  );
  const { oldest, latest } = rows[0]!;
  return { oldest, latest, events: rows.filter(row => row.id !== null) };
}

type Values = (number | string)[];

/**
 * Returns the condition for the events of a page. An index has the events of one type, or of one subject and type, in the
 * order of their IDs, but not those of several types: the query merges the first `limit` events of each type.
 */
function pageCondition(
  { types, subject }: EventFilter,
  after: number,
  limit: number,
): [condition: string, values: Values] {
  const wanted = subject === undefined ? types : typesOfSubject(subject, types);
  if (wanted === undefined) return ['id > ?', [after]];
  // Numbers start at 1, so this matches no event.
  if (wanted.size === 0) return ['id = 0', []];
  const key = subject === undefined ? 'type = ?' : 'subject = ? AND type = ?';
  const ofType = `SELECT id FROM (SELECT id FROM events WHERE ${key} AND id > ? ORDER BY id LIMIT ?) AS of_type`;
  const branches = Array(wanted.size).fill(ofType).join(' UNION ALL ');
  const values = [...wanted].flatMap(type =>
    subject === undefined ? [type, after, limit] : [subject, type, after, limit],
  );
  return [`id IN (SELECT id FROM (${branches}) AS found ORDER BY id LIMIT ?)`, [...values, limit]];
}

export async function selectEnds(db: Queries): Promise<Ends> {
  return one<Ends>(db, `SELECT ${ENDS} FROM event_log`);
}

/**
 * Returns the last event of the first `limit` for which it and all events before it are older than `time`; null if there is
 * none.
 */
export async function selectLastBefore(db: Queries, time: number, limit: number): Promise<number | null> {
  const row = await db.get<{ id: number | null }>(
    `SELECT max(id) AS id FROM (
       SELECT id, max(time) OVER (ORDER BY id) AS latest_time
       FROM (SELECT id, time FROM events ORDER BY id LIMIT ?) AS first_events
     ) AS dated WHERE latest_time < ?`,
    [limit, time],
  );
  return row?.id ?? null;
}

export async function deleteEventsUpTo(db: Queries, id: number): Promise<void> {
  await db.run('DELETE FROM events WHERE id <= ?', [id]);
}
