import { useLocation, useRouter } from '@tanstack/react-router';
import { useWhileShown } from './is-shown.ts';

declare module '@tanstack/react-router' {
  interface HistoryState {
    leadsBack?: boolean;
  }
}

/** The state of a link to a panel on another page: closing the panel leads back to the page of the link. */
export const leadsBack = { leadsBack: true };

/** Returns a function that closes a panel, unless the user has left it: it goes back to the page of such a link, or runs `toList`. */
export function useCloseTo(toList: () => void): () => void {
  const { history } = useRouter();
  const isBack = useLocation({ select: ({ state }) => state.leadsBack === true });
  return useWhileShown(() => (isBack ? history.back() : toList()));
}
