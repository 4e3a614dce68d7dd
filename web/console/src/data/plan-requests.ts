import type { PlanRequest } from '@petstore/client';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useSession } from '../app/session.ts';
import { keys } from './keys.ts';
import { useEvents } from './use-events.ts';

const queryKey = [keys.name, 'plan requests'];
/** The most open requests that are read. */
export const MOST_PLAN_REQUESTS = 20;

/** The open plan requests, the oldest first, which events keep fresh. Only administrators read them. */
export function usePlanRequests(): UseQueryResult<readonly PlanRequest[]> {
  const { store, cache, can } = useSession();
  useEvents(({ type }) => {
    if (type.startsWith('key.plan_')) void cache.invalidateQueries({ queryKey });
  });
  return useQuery({
    queryKey,
    queryFn: () =>
      store.keys.planRequests({ status: 'open', sort: 'id' }).toArray({ limit: MOST_PLAN_REQUESTS }),
    // Events are followed only while they are shown.
    staleTime: 0,
    enabled: can('admin'),
  });
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
