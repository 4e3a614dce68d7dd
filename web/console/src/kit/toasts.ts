import { createContext, useContext } from 'react';
import { askingToLeave } from './asking-to-leave.ts';

interface Toast {
  id: number;
  text: string;
  tone: 'done' | 'warning' | 'problem';
  /** Undoes what the message is about. It can resolve with the text of the next message. */
  undo?: (() => Promise<unknown>) | undefined;
  /** The item whose creation it undoes, which is possible as long as the item is the same. */
  created?: { name: string; id: number; isSame: (item: object | undefined) => boolean } | undefined;
  /** The steps that it is about, such as units that were added one by one, and their sum. */
  steps?: { of: string; sum: number } | undefined;
  /** Whether the message stays until it is closed. */
  stays?: boolean;
  /** In milliseconds since 1970. */
  shownAt: number;
}

/** How long a message and its button to undo stay, in milliseconds. */
const TOAST_TIME = 10_000;

/** How long undoing may take without a message that says so, in milliseconds. */
const UNDO_PAUSE = 500;

/** The most that are shown: more would cover the page of a phone. The others can still be undone. */
const MOST = 3;

/** How many actions can still be undone after their messages have closed. */
const MOST_UNDOS = 20;

/** The messages about what the user of a session did. They end with the session: the next user of the page must not undo it. */
export type Toasts = ReturnType<typeof newToasts>;

export function newToasts() {
  let toasts: readonly Toast[] = [];
  /** What can be undone, the latest first. */
  let undos: readonly Toast[] = [];
  /** The latest of them. */
  let shown: readonly Toast[] = [];
  let lastId = 0;
  const listeners = new Set<() => void>();

  /** Shows a message. Returns its ID. */
  function show({
    tone = 'done',
    ...toast
  }: Omit<Toast, 'id' | 'tone' | 'shownAt'> & { tone?: Toast['tone'] }): number {
    const id = ++lastId;
    const shown = { ...toast, tone, id, shownAt: Date.now() };
    if (toast.undo) undos = [shown, ...undos].slice(0, MOST_UNDOS);
    replace([...toasts, shown]);
    if (!toast.stays) setTimeout(close, TOAST_TIME, id);
    return id;
  }

  /** Shows a message about a step, together with the earlier steps of the same thing whose message is open. */
  function showSteps(of: string, step: number, message: (sum: number) => Pick<Toast, 'text' | 'undo'>): void {
    const open = toasts.find(toast => toast.steps?.of === of);
    if (open) endUndo(open.id);
    const sum = step + (open?.steps?.sum ?? 0);
    if (sum !== 0) show({ ...message(sum), steps: { of, sum } });
  }

  /** Shows an error that belongs to no field. */
  function showProblem(error: unknown): void {
    show({ tone: 'problem', text: error instanceof Error ? error.message : String(error) });
  }

  function close(id: number): void {
    replace(toasts.filter(toast => toast.id !== id));
  }

  /** Undoes an action, also after its message has closed; by default the latest one whose message is open. Returns whether there is one. */
  function undo(id = toasts.findLast(toast => toast.undo)?.id): boolean {
    const toast = undos.find(toast => toast.id === id);
    if (!toast?.undo) return false;
    undos = undos.filter(other => other !== toast);
    close(toast.id);
    let running: number | undefined;
    const pause = setTimeout(() => {
      running = show({ text: `Undoing: ${toast.text} …`, stays: true });
    }, UNDO_PAUSE);
    askingToLeave(toast.undo)
      .finally(() => {
        clearTimeout(pause);
        if (running !== undefined) close(running);
      })
      .then(text => show({ text: typeof text === 'string' ? text : `Undone: ${toast.text}` }), showProblem);
    return true;
  }

  /**
   * No longer offers to undo the creation of an item that has changed since, such as an order that was completed. `item` is its newest
   * version, or `undefined` if it was deleted.
   */
  function withdrawUndo(name: string, id: number, item: object | undefined): void {
    withdrawUndos(({ created }) => created?.name === name && created.id === id && !created.isSame(item));
  }

  /** No longer offers to undo these actions; by default all. Later steps are not undone together with them. */
  function withdrawUndos(isWithdrawn: (toast: Toast) => boolean = () => true): void {
    if (!undos.some(isWithdrawn)) return;
    undos = undos.filter(toast => !isWithdrawn(toast));
    replace(
      toasts.map(toast => (isWithdrawn(toast) ? { ...toast, undo: undefined, steps: undefined } : toast)),
    );
  }

  /** No longer offers to undo what a message is about, because it was undone elsewhere. */
  function endUndo(id: number): void {
    undos = undos.filter(toast => toast.id !== id);
    close(id);
  }

  function replace(next: readonly Toast[]): void {
    toasts = next;
    shown = next.slice(-MOST);
    for (const listener of listeners) listener();
  }

  /** Calls the listener after each change. Returns a function that ends this. */
  function subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  return {
    show,
    showSteps,
    showProblem,
    close,
    undo,
    withdrawUndo,
    withdrawUndos,
    endUndo,
    subscribe,
    /** What is shown, the latest last. */
    shown: () => shown,
    /** What can be undone, the latest first. */
    undos: () => undos,
  };
}

export const ToastsContext = createContext<Toasts | undefined>(undefined);

/** Returns the messages of the session. */
export function useToasts(): Toasts {
  const toasts = useContext(ToastsContext);
  if (!toasts) throw new Error('There are no messages: render this below ToastsContext');
  return toasts;
}
