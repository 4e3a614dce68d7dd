import { useCallback, useEffect, useState } from 'react';
import { isSame } from './merge.ts';

/** Changes one field of a form. Both `useDraft` and `useEdit` return such a function. */
export type SetField<T> = (
  ...change: { [Field in keyof T]-?: [field: Field, value: T[Field]] }[keyof T]
) => void;

const PREFIX = 'petstore.console.draft.';

/** What was stored of a form of this tab; `undefined` if nothing was. */
export function storedDraft<T>(name: string): T | undefined {
  const text = sessionStorage.getItem(PREFIX + name);
  return text === null ? undefined : JSON.parse(text);
}

/** Stores what the user typed into a form, so that it survives a closed panel and a reload. `undefined` removes it. */
export function storeDraft(name: string, draft: object | undefined): void {
  if (draft === undefined) sessionStorage.removeItem(PREFIX + name);
  else sessionStorage.setItem(PREFIX + name, JSON.stringify(draft));
}

/** How many drafts are stored whose names begin so, without those of `except`. */
export function countDrafts(prefix: string, except: ReadonlySet<string>): number {
  const names = Object.keys(sessionStorage).filter(key => key.startsWith(PREFIX + prefix));
  return names.filter(key => !except.has(key.slice(PREFIX.length))).length;
}

/**
 * The values of a form for a new item. Returns also how to change a field, how to empty the form, whether it shows what was typed
 * earlier, and how to empty it after it was sent.
 */
export function useDraft<T extends object>(name: string, empty: T) {
  const [draft, setDraft] = useState<T>(() => storedDraft(name) ?? empty);
  const [isRestored, setRestored] = useState(draft !== empty);
  useEffect(() => storeDraft(name, isSame(draft, empty) ? undefined : draft), [name, draft, empty]);
  const set = useCallback(<Field extends keyof T>(field: Field, value: T[Field]) => {
    setDraft(draft => ({ ...draft, [field]: value }));
  }, []);
  const clear = useCallback(() => {
    setDraft(empty);
    setRestored(false);
    storeDraft(name, undefined);
  }, [name, empty]);
  /** Empties the form, unless the user has changed it since it was sent. Returns whether it did. */
  const finish = useCallback(
    (sent: T): boolean => {
      const isLatest = isSame(storedDraft(name) ?? empty, sent);
      if (isLatest) clear();
      return isLatest;
    },
    [name, empty, clear],
  );
  return [draft, set, clear, isRestored && !isSame(draft, empty), finish] as const;
}
