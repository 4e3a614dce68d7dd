import type { UseQueryResult } from '@tanstack/react-query';

/** Whether a query was read since its page is shown, and not only on an earlier visit. One that is not read at all counts as well. */
export function isFresh({
  isFetchedAfterMount,
  fetchStatus,
}: Pick<UseQueryResult, 'isFetchedAfterMount' | 'fetchStatus'>): boolean {
  return isFetchedAfterMount || fetchStatus === 'idle';
}
