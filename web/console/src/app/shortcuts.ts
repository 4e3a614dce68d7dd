import { useLayoutEffect } from 'react';
import { stored } from '../kit/stored.ts';
import { isTyping, letterOf } from '../kit/typing.ts';

/** Whether the shortcuts of a single key are on in this browser: speech input can press them by accident (WCAG 2.1.4). */
export const singleKeys = stored('single-key-shortcuts', true);

interface Keys {
  onPalette: () => void;
  onHelp: () => void;
  onSell: () => void;
  /** Whether one of both is open, or is being loaded: what the user types belongs to it. */
  isOpening: boolean;
}

/** Runs the shortcuts of the frame. Those of a single key do nothing in fields and while a dialog is open. */
export function useShortcuts({ onPalette, onHelp, onSell, isOpening }: Keys): void {
  // As soon as the frame is there: an effect without layout runs later, and a key that is pressed before would be lost.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey) return;
      const hasModifier = event.metaKey || event.ctrlKey;
      if (hasModifier && !event.shiftKey && letterOf(event) === 'k') onPalette();
      else if (
        hasModifier ||
        !singleKeys.read() ||
        isOpening ||
        isBusy(event) ||
        !runSingle(letterOf(event), onHelp, onSell)
      )
        return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [onPalette, onHelp, onSell, isOpening]);
}

/** Whether keys belong to a field, an open menu or a dialog. */
function isBusy(event: KeyboardEvent): boolean {
  // A menu that just opened has no focus yet.
  return document.querySelector('dialog[open], [popover="auto"]:popover-open') !== null || isTyping(event);
}

/** Returns whether the key is a shortcut here. Pages have no list of their own: their elements are what the keys use. */
function runSingle(key: string, onHelp: () => void, onSell: () => void): boolean {
  if (key === '?') {
    onHelp();
    return true;
  }
  if (key === 's') {
    onSell();
    return true;
  }
  if (key === '/') {
    const search = document.querySelector<HTMLInputElement>('main input[type="search"]');
    search?.focus();
    search?.select();
    return search !== null;
  }
  const link =
    key === 'n'
      ? document.querySelector<HTMLElement>('.page-header a[data-kind="main"]')
      : /^[1-9]$/.test(key)
        ? document.querySelectorAll<HTMLElement>('.navigation a')[Number(key) - 1]
        : undefined;
  link?.click();
  return Boolean(link);
}
