import type BetterSqlite3 from 'better-sqlite3';
import type { StoredEvent } from '../../src/db/database.ts';
import { digestOf, INSERT_SEAL, NO_SEAL, sealGroup, valuesOfSeal } from '../../src/db/event-seals.ts';

/** Seals the events of an embedded store that a test has inserted itself, in groups of `size` without gaps. */
export function sealEvents(connection: BetterSqlite3.Database, size = 1_000): void {
  const last = connection
    .prepare<[], { last_id: number; seal: string }>(
      'SELECT last_id, seal FROM event_seals ORDER BY 1 DESC LIMIT 1',
    )
    .get();
  let previous = last?.seal ?? NO_SEAL;
  let first = 0;
  let digests: string[] = [];
  const events = connection.prepare<[number], StoredEvent>('SELECT * FROM events WHERE id > ? ORDER BY id');
  const insert = connection.prepare(INSERT_SEAL);
  const seal = () => {
    if (digests.length === 0) return;
    const sealed = sealGroup(previous, first, digests, 0);
    insert.run(valuesOfSeal(sealed));
    previous = sealed.seal;
    digests = [];
  };
  for (const event of events.all(last?.last_id ?? 0)) {
    if (digests.length === size || event.id !== first + digests.length) seal();
    if (digests.length === 0) first = event.id;
    digests.push(digestOf(event));
  }
  seal();
}
