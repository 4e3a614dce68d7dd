import { type FocusEvent, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';
import { Button } from './button.tsx';
import { useTopDialog } from './modal.ts';
import { useToasts } from './toasts.ts';
import { hasUndo, letterOf } from './typing.ts';

/** A popover is above dialogs. */
function show(list: HTMLElement | null): void {
  list?.showPopover();
}

/** The messages about what was done, with the buttons to undo it. They are part of an open dialog, so that they work while it is open. */
export function ToastList() {
  const toasts = useToasts();
  const shown = useSyncExternalStore(toasts.subscribe, toasts.shown);
  const dialog = useTopDialog();
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isUndo = letterOf(event) === 'z' && (event.metaKey || event.ctrlKey) && !event.shiftKey;
      if (isUndo && !hasUndo(event) && toasts.undo()) event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [toasts]);
  /** What had the focus before a user of the keyboard came to the messages. It has the focus again when a message closes that has it. */
  const before = useRef<EventTarget>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: messages close only by this
  useLayoutEffect(() => {
    if (document.activeElement !== document.body) return;
    const last = before.current;
    before.current = null;
    if (last instanceof HTMLElement) last.focus({ preventScroll: true });
  }, [shown]);
  const isInside = ({ relatedTarget, currentTarget }: FocusEvent) =>
    relatedTarget instanceof Node && currentTarget.contains(relatedTarget);
  const list = (
    <div
      ref={show}
      popover="manual"
      className="toasts"
      role="status"
      // Otherwise each new message would read the earlier ones aloud again.
      aria-atomic="false"
      aria-label="Messages"
      onFocus={event => {
        if (!isInside(event))
          before.current = event.target.matches(':focus-visible') ? event.relatedTarget : null;
      }}
      onBlur={event => {
        if (!isInside(event)) before.current = null;
      }}
    >
      {shown.map(({ id, text, tone, undo, shownAt }) => (
        <div key={id} className="toast" data-tone={tone}>
          <span>{text}</span>
          {undo && (
            <Button kind="link" onClick={() => toasts.undo(id)}>
              Undo
            </Button>
          )}
          <Button kind="icon" icon="close" label="Dismiss" onClick={() => toasts.close(id)} />
          {undo && <ToastTime shownAt={shownAt} />}
        </div>
      ))}
    </div>
  );
  return dialog ? createPortal(list, dialog) : list;
}

/** Shows how long the button to undo stays. */
function ToastTime({ shownAt }: { shownAt: number }) {
  const [age] = useState(() => Date.now() - shownAt);
  return <span className="toast-time" style={{ animationDelay: `${-age}ms` }} />;
}
