import {
  type KeyboardEvent,
  type MouseEvent,
  useEffectEvent,
  useLayoutEffect,
  useRef,
  useSyncExternalStore,
} from 'react';

/** The open dialogs, the topmost last. Everything outside of the topmost one is inert. */
let dialogs: readonly HTMLDialogElement[] = [];
const listeners = new Set<() => void>();

function replace(next: readonly HTMLDialogElement[]): void {
  dialogs = next;
  for (const listener of listeners) listener();
}

/** The topmost open dialog. What has to work while it is open must be inside of it. */
export function useTopDialog(): HTMLDialogElement | undefined {
  return useSyncExternalStore(
    listener => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => dialogs.at(-1),
  );
}

/**
 * Opens a modal dialog as long as its element is there. Returns properties of the element. `onClose` decides what happens
 * when the user wants to close it.
 */
export function useModal(onClose: () => void) {
  const ref = useRef<HTMLDialogElement>(null);
  const askToClose = useEffectEvent(onClose);
  useLayoutEffect(() => {
    const dialog = ref.current!;
    // The dialog closes an open menu. Its button has the focus then, and again after the dialog.
    document.querySelector<HTMLElement>('[popover="auto"]:popover-open')?.hidePopover();
    const opener = document.activeElement;
    const onCancel = (event: Event) => {
      event.preventDefault();
      askToClose();
    };
    // Chromium closes a dialog without a question at the second request in a row: Escape, or Back on a phone.
    const onNativeClose = () => {
      dialog.showModal();
      askToClose();
    };
    dialog.showModal();
    dialog.addEventListener('cancel', onCancel);
    dialog.addEventListener('close', onNativeClose);
    replace([...dialogs, dialog]);
    return () => {
      // A question in it goes with it. While that is open, the opener of this dialog is inert.
      for (const above of dialogs) if (above !== dialog && dialog.contains(above)) above.close();
      replace(dialogs.filter(other => other !== dialog));
      dialog.removeEventListener('cancel', onCancel);
      dialog.removeEventListener('close', onNativeClose);
      dialog.close();
      if (opener instanceof HTMLElement) opener.focus({ preventScroll: true });
    };
  }, []);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || event.defaultPrevented || event.nativeEvent.isComposing) return;
    // Otherwise the dialog around a question would close as well.
    event.stopPropagation();
    // The browser closes an open menu first.
    if (event.currentTarget.querySelector('[popover="auto"]:popover-open')) return;
    event.preventDefault();
    onClose();
  }

  function onClick(event: MouseEvent): void {
    // A question can be in a row of a table, which a click would open.
    event.stopPropagation();
    // A click on the dialog itself is one outside of its content. The second click of a pair belongs to the first, which opened the dialog.
    if (event.target === ref.current && event.detail <= 1) onClose();
  }

  return { ref, onKeyDown, onClick };
}
