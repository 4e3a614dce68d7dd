import { useSyncExternalStore } from 'react';

export const themes = ['system', 'light', 'dark'] as const;

type Theme = (typeof themes)[number];

const STORED = 'petstore.console.theme';

const listeners = new Set<() => void>();

export function currentTheme(): Theme {
  const stored = localStorage.getItem(STORED);
  return themes.find(theme => theme === stored) ?? 'system';
}

/** Shows a theme, and keeps it for the next visit. The styles follow the system unless the page has the attribute. */
export function setTheme(theme: Theme): void {
  if (theme === 'system') {
    localStorage.removeItem(STORED);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(STORED, theme);
    document.documentElement.dataset.theme = theme;
  }
  for (const listener of listeners) listener();
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, currentTheme);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}
