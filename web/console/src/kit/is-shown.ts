import { useCallback, useEffect, useRef } from 'react';

/** Returns a function that returns whether the element is still on the page: a response can arrive after the user has left. */
export function useIsShown(): () => boolean {
  const isShown = useRef(false);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return useCallback(() => isShown.current, []);
}

/** Returns a function that does the same as long as the element is on the page, and nothing later. */
export function useWhileShown(run: () => void): () => void {
  const isShown = useIsShown();
  return () => {
    if (isShown()) run();
  };
}
