import { useSyncExternalStore } from 'react';

export interface Toast {
  id: number;
  text: string;
  tone: 'done' | 'problem';
  /** Undoes what the message is about. */
  undo?: (() => Promise<unknown>) | undefined;
  /** In milliseconds since 1970. */
  shownAt: number;
}

/** How long a message and its button to undo stay, in milliseconds. */
export const TOAST_TIME = 10_000;

/** The most that are shown: more would cover the page of a phone. The others can still be undone. */
const MOST = 3;

let toasts: readonly Toast[] = [];
/** The latest of them. */
let shown: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

export function showToast({
  tone = 'done',
  ...toast
}: Omit<Toast, 'id' | 'tone' | 'shownAt'> & { tone?: Toast['tone'] }): void {
  const id = ++lastId;
  replace([...toasts, { ...toast, tone, id, shownAt: Date.now() }]);
  setTimeout(closeToast, TOAST_TIME, id);
}

/** Shows an error that belongs to no field. */
export function showProblem(error: unknown): void {
  showToast({ tone: 'problem', text: error instanceof Error ? error.message : String(error) });
}

export function closeToast(id: number): void {
  replace(toasts.filter(toast => toast.id !== id));
}

/** Undoes the latest action that can still be undone. Returns whether there is one. */
export function undoToast(id = toasts.findLast(toast => toast.undo)?.id): boolean {
  const toast = toasts.find(toast => toast.id === id);
  if (!toast?.undo) return false;
  closeToast(toast.id);
  toast.undo().then(() => showToast({ text: `Undone: ${toast.text}` }), showProblem);
  return true;
}

/** Closes all messages. What they offer to undo can no longer be undone. */
export function closeToasts(): void {
  replace([]);
}

function replace(next: readonly Toast[]): void {
  toasts = next;
  shown = next.slice(-MOST);
  for (const listener of listeners) listener();
}

export function useToasts(): readonly Toast[] {
  return useSyncExternalStore(subscribe, () => shown);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
