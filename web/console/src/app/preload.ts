import type { QueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { loadAllParts } from '../kit/lazy-part.tsx';

/** How long after a look another one follows, while the page still reads its data, in milliseconds. */
const PAUSE = 500;

/** Loads the code of all pages when the first one has its data and the browser has nothing to do. */
export function useAllParts(cache: QueryClient): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const look = () => {
      if (cache.isFetching() > 0) timer = setTimeout(look, PAUSE);
      // Safari has no idle callbacks.
      else if ('requestIdleCallback' in window) requestIdleCallback(() => void loadAllParts());
      else timer = setTimeout(loadAllParts, PAUSE);
    };
    timer = setTimeout(look, PAUSE);
    return () => clearTimeout(timer);
  }, [cache]);
}
