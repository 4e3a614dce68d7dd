import type { HistoryEntry } from '@petstore/client';
import { useQuery } from '@tanstack/react-query';
import { useSession } from '../app/session.ts';
import { keys } from './keys.ts';
import { LARGEST_PAGE } from './resource.ts';
import { firstDayOf, usageByDay } from './usage-days.ts';

/** How often the usage is read again while it is shown, in milliseconds: no event reports requests. */
const PAUSE = 30_000;
/**
 * The most bans that are read, the newest first. A key that is always banned has about 2,160 in 90 days, unless the operator has set
 * shorter bans.
 */
const MOST_BANS = 3_000;

/** The windows of a key, and its usage by day, with the bans that the log of events still has. */
export function useKeyUsage(id: number) {
  const { store } = useSession();
  return useQuery({
    queryKey: [keys.name, 'usage', id],
    queryFn: async () => {
      const usage = await store.keys.usage(id);
      // The log also has earlier events.
      const from = new Date(firstDayOf(usage)).toISOString();
      const bans = await bansOf(
        store.events.history({ type: 'key.banned', subject: `keys/${id}`, from, limit: LARGEST_PAGE }),
      );
      return { windows: usage.windows, warnings: usage.warnings, days: usageByDay(usage, bans) };
    },
    staleTime: 0,
    refetchInterval: PAUSE,
  });
}

async function bansOf(list: AsyncIterable<HistoryEntry>): Promise<HistoryEntry[]> {
  const bans: HistoryEntry[] = [];
  for await (const ban of list) if (bans.push(ban) === MOST_BANS) break;
  return bans;
}
