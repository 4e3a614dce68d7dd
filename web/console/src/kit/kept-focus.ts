import { type FocusEvent, type RefObject, useEffect, useRef } from 'react';
import { useTopDialog } from './modal.ts';

/**
 * For users of the keyboard: moves the focus to a row of a list when what had it is no longer there, such as a deleted row or a button that
 * disappears when it is pressed. It is the row at the index of the last one that had it. A page without rows gets the focus itself, if it can have
 * it. Returns properties of the page.
 */
export function useKeptFocus(page: RefObject<HTMLElement | null>) {
  // A panel that closes gives the focus back to its row, which may be deleted, or to nothing if it was there when the page was loaded.
  useTopDialog();
  const hasFocus = useRef(false);
  const index = useRef<string>(undefined);

  useEffect(() => {
    const isLost = () => hasFocus.current && document.activeElement === document.body;
    const rowAt = (place: string) => page.current?.querySelector<HTMLElement>(`[data-index]${place}`);
    const move = () => {
      if (!isLost()) return;
      const row = rowAt(`[data-index="${index.current}"]`) ?? rowAt('[tabindex="0"]');
      (row ?? page.current)?.focus({ preventScroll: true });
    };
    move();
    if (!isLost()) return;
    // A new table draws its rows after its first effects.
    const frame = requestAnimationFrame(move);
    return () => cancelAnimationFrame(frame);
  });

  return {
    onFocus: ({ target }: FocusEvent) => {
      hasFocus.current = target.matches(':focus-visible');
      index.current = target.closest<HTMLElement>('[data-index]')?.dataset.index ?? index.current;
    },
    // Not when what has the focus is removed.
    onBlur: () => {
      hasFocus.current = false;
    },
  };
}
