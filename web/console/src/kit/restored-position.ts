import { type RefObject, useLayoutEffect, useRef } from 'react';

/** How many rows are read again to restore a position: 20 requests. */
const MOST_ROWS = 2_000;

interface RestoredPosition {
  scroller: RefObject<HTMLElement | null>;
  /** The position before the page was loaded again, in pixels. */
  top: number;
  /** How many rows there are now. */
  count: number;
  /** Reads the next rows. */
  onEnd: () => void;
}

/**
 * Scrolls a list to where it was, as soon as so many rows are there. Returns a function that ends this: the user has begun to move in
 * the list meanwhile.
 */
export function useRestoredPosition({ scroller, top, count, onEnd }: RestoredPosition): () => void {
  const wanted = useRef(top);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only new rows make it possible to scroll further
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || wanted.current === 0) return;
    element.scrollTop = wanted.current;
    if (element.scrollTop >= wanted.current - 1 || count >= MOST_ROWS) wanted.current = 0;
    else onEnd();
  }, [count]);
  return () => {
    wanted.current = 0;
  };
}
