import { type KeyboardEvent, useLayoutEffect, useRef } from 'react';

/** What can be pressed in a row, without what it has opened. */
const CONTROLS = ':is(a, button, input):not([popover] *, dialog *)';

function controlsOf(row: Element): HTMLElement[] {
  return [...row.querySelectorAll<HTMLElement>(CONTROLS)];
}

/** Takes the controls of a row out of the order of Tab: arrow keys reach them from the row. Returns the ref of the row. */
export function useRowControls() {
  const row = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    for (const control of controlsOf(row.current!)) control.tabIndex = -1;
  });
  return row;
}

/** Moves the focus between a row and its controls by ← and →. Returns whether the key does that: with Alt or ⌘ it goes back in the history. */
export function moveInRow({ key, target, shiftKey, altKey, metaKey }: KeyboardEvent): boolean {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  const row = target instanceof Element ? target.closest<HTMLElement>('[role="row"]') : null;
  if (!step || !row || shiftKey || altKey || metaKey) return false;
  const stops = [row, ...controlsOf(row)];
  stops[Math.max(0, stops.indexOf(target as HTMLElement) + step)]?.focus();
  return true;
}
