import { type Query, useIsFetching } from '@tanstack/react-query';
import { useRouterState } from '@tanstack/react-router';

/** Whether nothing is known yet of what a query reads: what is only read again is on the page already. */
const isFirst = ({ state }: Query) => state.data === undefined;

/** A line over the page while the code or the data of what the user wants to see are on their way. */
export function Loading() {
  const isFetching = useIsFetching({ predicate: isFirst }) > 0;
  const isLeaving = useRouterState({ select: state => state.isLoading });
  return isFetching || isLeaving ? <LoadingLine /> : null;
}

export function LoadingLine() {
  return <div className="loading" role="progressbar" aria-label="Loading" />;
}
