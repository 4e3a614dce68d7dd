import { useCallback, useSyncExternalStore } from 'react';
import { type View, withView } from './views.ts';

const PREFIX = 'petstore.console.views.';

const listeners = new Set<() => void>();

/** The saved views of a list, by name. They stay in this browser. */
export function useViews<Query extends object>(list: string) {
  const key = PREFIX + list;
  // The text is the same as long as nothing changed, which the hook needs; its value would be a new object each time.
  const text = useSyncExternalStore(subscribe, () => localStorage.getItem(key) ?? '[]');
  const views: readonly View<Query>[] = JSON.parse(text);
  /** Saves a view; a view with the same name is replaced. */
  const save = useCallback((view: View<Query>) => store(key, withView(read<Query>(key), view)), [key]);
  const remove = useCallback(
    (name: string) =>
      store(
        key,
        read<Query>(key).filter(view => view.name !== name),
      ),
    [key],
  );
  return { views, save, remove };
}

function read<Query extends object>(key: string): readonly View<Query>[] {
  return JSON.parse(localStorage.getItem(key) ?? '[]');
}

function store(key: string, views: readonly View<object>[]): void {
  if (views.length === 0) localStorage.removeItem(key);
  else localStorage.setItem(key, JSON.stringify(views));
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // Another tab has changed them.
  addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('storage', listener);
  };
}
