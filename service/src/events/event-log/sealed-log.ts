import type { Queries, StoredEvent } from '../../db/database.ts';
import { NO_SEAL, type StoredSeal, sealedText } from '../../db/event-seals.ts';
import { nextTurn } from '../../kit/turns.ts';
import { selectEventsBetween, selectSealBefore, selectSeals } from './seal-queries.ts';

/** How many events are read in a turn of the event loop. An event can have 12 KB of text. */
const SLICE = 50;

/** A page ends with the group in which its texts have this many characters. */
const LONG_PAGE = 1_000_000;

/** A group of events that were sealed together. */
export interface SealedGroup extends StoredSeal {
  previous: string;
  /** The texts of its events, as JSON. */
  events: readonly string[];
}

interface SealedPageRequest {
  /** The groups that end after this event are read. */
  after: number;
  limit: number;
  /** Ends the read. */
  closed?: AbortSignal | undefined;
}

/** Returns the first groups after a position: at most `limit`, with about as many events as one group may have, or one group. */
export async function readSealedGroups(
  db: Queries,
  { after, limit, closed }: SealedPageRequest,
): Promise<SealedGroup[]> {
  const seals = await selectSeals(db, after, limit);
  const [first] = seals;
  if (!first) return [];
  const texts: string[][] = [];
  let length = 0;
  for (const { first_id, last_id } of seals) {
    if (length >= LONG_PAGE) break;
    const ofGroup: string[] = [];
    for (let next: number | undefined = first_id; next !== undefined; ) {
      await nextTurn();
      closed?.throwIfAborted();
      const events: StoredEvent[] = await selectEventsBetween(db, [next, last_id], SLICE);
      ofGroup.push(...events.map(event => JSON.stringify(sealedText(event))));
      const last = events.at(SLICE - 1);
      next = last && last.id + 1;
    }
    for (const text of ofGroup) length += text.length;
    texts.push(ofGroup);
  }
  const before = await selectSealBefore(db, first.last_id);
  // Events expire together with their group. Read after them, the seal shows whether all of them were there. Events that are in a group
  // which had expired before stay: somebody has marked it.
  const present = await selectSeals(db, after, texts.length);
  return present.map((group, i) => ({
    ...group,
    previous: present[i - 1]?.seal ?? before ?? NO_SEAL,
    events: group.digests === null && seals[i]!.digests !== null ? [] : texts[i]!,
  }));
}
