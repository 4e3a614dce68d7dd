import type { PlanRequest } from '@petstore/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useSession } from '../app/session.ts';
import { keys } from './keys.ts';

const queryKey = [keys.name, 'plan requests'];
/** The most open requests that are shown at once. */
const MOST = 20;

/** The open plan requests, the oldest first, which events keep fresh; `undefined` until they were read. */
export function usePlanRequests(): readonly PlanRequest[] | undefined {
  const { store, cache, live } = useSession();
  useEffect(
    () =>
      live.onEvent(({ type }) => {
        if (type.startsWith('key.plan_')) void cache.invalidateQueries({ queryKey });
      }),
    [live, cache],
  );
  const { data } = useQuery({
    queryKey,
    queryFn: () => store.keys.planRequests({ status: 'open', sort: 'id' }).toArray({ limit: MOST }),
  });
  return data;
}

/** Returns the decisions about a plan request. After each the list is read again. */
export function useDecidePlan(): {
  approve: (id: number) => Promise<void>;
  decline: (id: number, message: string) => Promise<void>;
} {
  const { store, cache } = useSession();
  const after = async (decision: Promise<unknown>) => {
    try {
      await decision;
    } finally {
      await cache.invalidateQueries({ queryKey });
    }
  };
  return {
    approve: id => after(store.keys.approvePlanRequest(id)),
    decline: (id, message) => after(store.keys.declinePlanRequest(id, { message })),
  };
}
