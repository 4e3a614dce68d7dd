import type { Event } from '@petstore/client';
import { useQuery } from '@tanstack/react-query';
import { useSession } from '../app/session.ts';
import { keys } from './keys.ts';
import { usageByDay } from './usage-days.ts';

/** How often the usage is read again while it is shown, in milliseconds: no event reports requests. */
const PAUSE = 30_000;
/** The most bans that are read. A key that is always banned has 720 in the 30 days of the log. */
const MOST_BANS = 1_000;

/** The windows of a key, and its usage by day, with the bans that the log of events still has. */
export function useKeyUsage(id: number) {
  const { store } = useSession();
  return useQuery({
    queryKey: [keys.name, 'usage', id],
    queryFn: async () => {
      const [usage, bans] = await Promise.all([
        store.keys.usage(id),
        bansOf(store.events.list({ type: 'key.banned', subject: `keys/${id}`, limit: 100 })),
      ]);
      return { windows: usage.windows, warnings: usage.warnings, days: usageByDay(usage, bans) };
    },
    staleTime: 0,
    refetchInterval: PAUSE,
  });
}

async function bansOf(list: AsyncIterable<Event>): Promise<Event[]> {
  const bans: Event[] = [];
  for await (const ban of list) if (bans.push(ban) === MOST_BANS) break;
  return bans;
}
