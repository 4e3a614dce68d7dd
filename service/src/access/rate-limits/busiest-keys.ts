import type { Queries } from '../../db/database.ts';
import { DAY } from '../../kit/clock.ts';
import { formatDate } from '../../kit/dates.ts';
import type { BusiestKeys } from './key-usage.ts';
import { selectBusiestKeys } from './limit-queries.ts';

/**
 * Resolves with the keys that had requests today (UTC), those with the most requests first, as their counts were last stored.
 * `now` is in milliseconds since the Unix epoch.
 */
export async function busiestKeys(db: Queries, now: number, limit: number): Promise<BusiestKeys> {
  const day = Math.floor(now / DAY);
  const rows = await selectBusiestKeys(db, day, limit);
  const keys = rows.map(({ api_key_id, name, admitted, rejected }) => ({
    keyId: api_key_id,
    name,
    admitted,
    refused: rejected,
  }));
  return { date: formatDate(day * DAY), keys };
}
