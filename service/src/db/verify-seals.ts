import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Queries, StoredEvent } from './database.ts';
import { RESTORED_TYPE, startsARange } from './event-ranges.ts';
import { digestOf, KEPT_DIGITS, NO_SEAL, SEAL_COLUMNS, type StoredSeal, sealOf } from './event-seals.ts';
import { NEW_EVENT_COLUMNS } from './new-events.ts';

/** A seal that was noted before, outside of the store. */
export interface Checkpoint {
  id: number;
  seal: string;
}

/** The number of groups that are read at a time. Each has at most 1,000 events. */
const GROUPS_AT_ONCE = 20;

const SELECT_SEALS = `SELECT ${SEAL_COLUMNS} FROM event_seals
  WHERE last_id > ? ORDER BY last_id LIMIT ${GROUPS_AT_ONCE}`;

const SELECT_EVENTS = `SELECT id, ${NEW_EVENT_COLUMNS} FROM events WHERE id >= ? AND id <= ? ORDER BY id`;

/** The end of the log, and the ends of its events; null without any. */
const SELECT_ENDS = `SELECT last_id AS latest, (SELECT min(id) FROM events) AS oldest, (SELECT max(id) FROM events) AS newest
  FROM event_log`;

/**
 * Recomputes the seals of the log. Returns what differs, beginning with the first event that was changed, removed or added; nothing
 * for a log that is as it was written. Compares checkpoints as well. Reads a few groups at a time, each in a turn of the event loop.
 */
export async function verifySeals(
  db: Pick<Queries, 'get' | 'all'>,
  {
    checkpoints = [],
    signal,
  }: { checkpoints?: readonly Checkpoint[] | undefined; signal?: AbortSignal | undefined } = {},
): Promise<string[]> {
  let previous: Pick<StoredSeal, 'last_id' | 'seal'> = { last_id: 0, seal: NO_SEAL };
  let oldest: number | undefined;
  for (;;) {
    await nextTurn();
    signal?.throwIfAborted();
    const seals = await db.all<StoredSeal>(SELECT_SEALS, [previous.last_id]);
    if (seals.length === 0) break;
    for (const seal of seals) {
      const fault = await faultOf(db, seal, previous, oldest !== undefined);
      if (fault !== undefined) return [fault];
      if (seal.digests !== null) oldest ??= seal.first_id;
      previous = seal;
    }
  }
  const ends = (await db.get<{ latest: number; oldest: number | null; newest: number | null }>(SELECT_ENDS))!;
  if (ends.latest > previous.last_id)
    return [`Event ${previous.last_id + 1} has no seal, or was removed with its seal`];
  if (ends.newest !== null && ends.newest > previous.last_id)
    return [`Event ${ends.newest} was added: it has no seal`];
  if (ends.oldest !== null && ends.oldest < (oldest ?? 1))
    return [`Event ${ends.oldest} was added before the oldest event of the log`];
  const faults: string[] = [];
  for (const checkpoint of checkpoints) faults.push(...(await compare(db, checkpoint)));
  return faults;
}

/** Returns the first fault in a group; `undefined` if it has none. */
async function faultOf(
  db: Pick<Queries, 'all'>,
  { first_id: first, last_id: last, seal, digests }: StoredSeal,
  previous: Pick<StoredSeal, 'last_id' | 'seal'>,
  isAfterOthers: boolean,
): Promise<string | undefined> {
  const events = await db.all<StoredEvent>(SELECT_EVENTS, [previous.last_id + 1, last]);
  const startsRange =
    startsARange(first) &&
    (digests === null || (events[0]?.id === first && events[0].type === RESTORED_TYPE));
  if (first !== previous.last_id + 1 && !startsRange) {
    return `Event ${previous.last_id + 1} was removed, with the seal of its group`;
  }
  if (digests === null) {
    if (isAfterOthers)
      return `Event ${first} was removed: its group is marked as expired, but earlier ones are not`;
    return events.length === 0 ? undefined : `Event ${events[0]!.id} was added: its group has expired`;
  }
  const actual = events.map(event => ({ id: event.id, digest: digestOf(event) }));
  for (let id = first; id <= last; id++) {
    const event = actual[id - first];
    if (event === undefined || event.id > id) return `Event ${id} was removed`;
    if (event.id < id) return `Event ${event.id} was added`;
    const kept = digests.slice((id - first) * KEPT_DIGITS, (id - first + 1) * KEPT_DIGITS);
    if (event.digest.slice(0, KEPT_DIGITS) !== kept) return `Event ${id} was changed`;
  }
  const expected = sealOf(
    previous.seal,
    actual.map(({ digest }) => digest),
  );
  if (expected === seal) return undefined;
  return `An event from ${first} to ${last} was changed, or the seal of this group or of the one before`;
}

async function compare(db: Pick<Queries, 'get'>, { id, seal }: Checkpoint): Promise<string[]> {
  const stored =
    id === 0
      ? { seal: NO_SEAL }
      : await db.get<{ seal: string }>('SELECT seal FROM event_seals WHERE last_id = ?', [id]);
  if (stored === undefined) {
    return [
      `Checkpoint ${id}: no group of the log ends with event ${id}. Events were removed, or an earlier backup was restored`,
    ];
  }
  if (stored.seal === seal) return [];
  return [
    `Checkpoint ${id}: the seal is ${stored.seal}, so an event up to ${id} was changed, added or removed`,
  ];
}
