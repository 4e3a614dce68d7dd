import type { Account, NewPlanRequest } from '@petstore/client';
import { useQuery } from '@tanstack/react-query';
import { useSession } from '../app/session.ts';

/** How often the account is read again while it is shown, in milliseconds: no event reports requests or decisions to the holder of a key. */
const PAUSE = 30_000;
const queryKey = ['account'];

/** What the service states about the key of this session: its limits, warnings and newest plan request. It costs no quota. */
export function useOwnAccount(): Account {
  const { store, account } = useSession();
  const { data } = useQuery({
    queryKey,
    queryFn: () => store.account.get(),
    staleTime: 0,
    refetchInterval: PAUSE,
    // An administrator may have decided meanwhile, perhaps this user with another key.
    refetchOnWindowFocus: true,
  });
  return data ?? account;
}

/** Returns a function that requests another plan for the key of this session. */
export function useRequestPlan(): (wanted: NewPlanRequest) => Promise<void> {
  const { store, cache } = useSession();
  return async wanted => {
    const planRequest = await store.account.requestPlan(wanted);
    cache.setQueryData<Account>(queryKey, account => account && { ...account, planRequest });
  };
}

/** Returns a function that reads the account again. */
export function useRefreshAccount(): () => Promise<void> {
  const { cache } = useSession();
  return () => cache.invalidateQueries({ queryKey });
}
