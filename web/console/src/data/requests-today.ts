import type { BusyKey } from '@petstore/client';
import { useQuery } from '@tanstack/react-query';
import { useSession } from '../app/session.ts';
import { keys, MOST_BUSY } from './keys.ts';

/** How often the requests are read again while they are shown, in milliseconds: no event reports requests. */
const PAUSE = 30_000;

export interface RequestsToday {
  /** By the ID of the key. */
  of: ReadonlyMap<number, BusyKey>;
  /** The requests that a key without an entry has at most: those of the last entry, if there can be more keys. */
  atMost: number;
}

/** The requests of today (UTC) of the busiest keys; `undefined` until they were read. */
export function useRequestsToday(): RequestsToday | undefined {
  const { store } = useSession();
  const { data } = useQuery({
    queryKey: [keys.name, 'requests today'],
    queryFn: async () => requestsToday((await store.keys.busiest({ limit: MOST_BUSY })).keys),
    staleTime: 0,
    refetchInterval: PAUSE,
  });
  return data;
}

/** `busiest` has the keys with the most requests first. */
export function requestsToday(busiest: readonly BusyKey[]): RequestsToday {
  const last = busiest.length < MOST_BUSY ? undefined : busiest.at(-1);
  return {
    of: new Map(busiest.map(requests => [requests.keyId, requests])),
    atMost: last ? last.admitted + last.refused : 0,
  };
}
