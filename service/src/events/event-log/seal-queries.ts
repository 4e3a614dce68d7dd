import { one, type Queries, type Statements, type StoredEvent } from '../../db/database.ts';
import { GROUP, SEAL_COLUMNS, type StoredSeal } from '../../db/event-seals.ts';
import { NEW_EVENT_COLUMNS } from '../../db/new-events.ts';

/** Returns the last event of the last group that ends at or before an event; null if none does. */
export async function selectEndOfGroup(db: Queries, id: number): Promise<number | null> {
  const { last } = await one<{ last: number | null }>(
    db,
    `SELECT max(last_id) AS last FROM event_seals
     WHERE last_id <= ? AND last_id >= (SELECT min(id) FROM events)`,
    [id],
  );
  return last;
}

/** Deletes the events up to the end of a group. Their seals stay, without the digests of single events. */
export async function deleteEventsUpTo(db: Statements, id: number): Promise<void> {
  await db.run(
    `UPDATE event_seals SET digests = NULL
     WHERE last_id <= ? AND last_id >= (SELECT min(id) FROM events) AND digests IS NOT NULL`,
    [id],
  );
  await db.run('DELETE FROM events WHERE id <= ?', [id]);
}

/**
 * Returns the first `limit` seals of the groups that end after a position: of groups that together have at most as many events as one
 * group may have, or of one group.
 */
export async function selectSeals(db: Queries, after: number, limit: number): Promise<StoredSeal[]> {
  const seals = await db.all<StoredSeal>(
    `SELECT ${SEAL_COLUMNS} FROM event_seals WHERE last_id > ? ORDER BY last_id LIMIT ?`,
    [after, limit],
  );
  return seals.filter(({ last_id }, i) => i === 0 || last_id - seals[0]!.first_id < GROUP);
}

/** Returns the seal of the group before the one that ends with an event; `undefined` if there is none. */
export async function selectSealBefore(db: Queries, lastId: number): Promise<string | undefined> {
  const row = await db.get<{ seal: string }>(
    'SELECT seal FROM event_seals WHERE last_id < ? ORDER BY last_id DESC LIMIT 1',
    [lastId],
  );
  return row?.seal;
}

/** Returns the first `limit` events of a range of numbers, both ends included. */
export function selectEventsBetween(
  db: Queries,
  [first, last]: readonly [first: number, last: number],
  limit: number,
): Promise<StoredEvent[]> {
  return db.all(`SELECT id, ${NEW_EVENT_COLUMNS} FROM events WHERE id >= ? AND id <= ? ORDER BY id LIMIT ?`, [
    first,
    last,
    limit,
  ]);
}

/** Returns the newest seal; `undefined` while the log is empty. */
export function selectNewestSeal(db: Pick<Queries, 'get'>): Promise<StoredSeal | undefined> {
  return db.get(`SELECT ${SEAL_COLUMNS} FROM event_seals ORDER BY last_id DESC LIMIT 1`);
}
