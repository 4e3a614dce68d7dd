import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();

/** A setting that this browser keeps, as JSON. The value that is not set removes its entry. */
interface Stored<T> {
  read: () => T;
  write: (value: T) => void;
  /** The value now, also after another tab has changed it. */
  use: () => T;
}

export function stored<T>(name: string, unset: T): Stored<T> {
  const key = `petstore.console.${name}`;
  /** What was parsed last: the hook needs the same object as long as the text is the same. */
  let last: { text: string | null; value: T } = { text: null, value: unset };
  function read(): T {
    const text = localStorage.getItem(key);
    if (text !== last.text) last = { text, value: text === null ? unset : JSON.parse(text) };
    return last.value;
  }
  return {
    read,
    write: value => {
      const text = JSON.stringify(value);
      if (text === JSON.stringify(unset)) localStorage.removeItem(key);
      else localStorage.setItem(key, text);
      for (const listener of listeners) listener();
    },
    use: () => useSyncExternalStore(subscribe, read),
  };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('storage', listener);
  };
}
