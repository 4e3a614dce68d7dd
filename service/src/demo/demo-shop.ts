import * as categories from '../catalog/categories/categories.ts';
import type { Database, Writer } from '../db/database.ts';
import { DemoHistory } from './demo-history.ts';

/**
 * Fills a store that has no category with the demo shop and a month of its history, through the operations of the shop. Returns whether
 * it did. A service that runs reads the limits of the keys afterwards (`KeyLimits.load`).
 */
export async function fillEmptyStore(
  db: Writer & Pick<Database, 'numberEvents'>,
  now: number,
): Promise<boolean> {
  const begun = await db.write(async tx => {
    const [, { items }] = await Promise.all([
      tx.lock('demo shop'),
      categories.list(tx, { sort: 'id', limit: 1 }),
    ]);
    if (items.length > 0) return undefined;
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
