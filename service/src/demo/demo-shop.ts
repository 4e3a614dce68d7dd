import * as categories from '../catalog/categories/categories.ts';
import type { Database, Queries, Writer } from '../db/database.ts';
import { selectEnds } from '../events/event-log/event-queries.ts';
import { DemoHistory } from './demo-history.ts';

/**
 * Fills a store that has never had anything besides its first key with the demo shop and a month of its history, through the operations
 * of the shop. Returns whether it did. A service that runs reads the limits of the keys afterwards (`KeyLimits.load`).
 */
export async function fillEmptyStore(
  db: Queries & Writer & Pick<Database, 'numberEvents'>,
  now: number,
): Promise<boolean> {
  // Writes nothing when the store has content: the database may be read-only at the moment.
  if (await hasContent(db)) return false;
  const begun = await db.write(async tx => {
    const [, isFilled] = await Promise.all([tx.lock('demo shop'), hasContent(tx)]);
    if (isFilled) return undefined;
    const history = new DemoHistory(now);
    await history.begin(tx);
    return history;
  });
  if (!begun) return false;
  // The webhook has the events after its creation, so those before it get their numbers first.
  await db.numberEvents();
  await db.write(tx => begun.continue(tx), { alone: true });
  return true;
}

/** The demo shop of another replica has categories before its events have numbers. */
async function hasContent(db: Queries): Promise<boolean> {
  const [{ latest }, { items }] = await Promise.all([
    selectEnds(db),
    categories.list(db, { sort: 'id', limit: 1 }),
  ]);
  // The first event is that of the first key.
  return latest > 1 || items.length > 0;
}
