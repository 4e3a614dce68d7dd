import { useEffect } from 'react';
import { Button } from './button.tsx';
import { closeToast, undoToast, useToasts } from './toasts.ts';

/** The messages about what was done, with the buttons to undo it. */
export function ToastList() {
  const toasts = useToasts();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isUndo = event.key === 'z' && (event.metaKey || event.ctrlKey) && !event.shiftKey;
      // A field has an undo of its own.
      const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select');
      if (isUndo && !isTyping && undoToast()) event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <div className="toasts" role="status" aria-label="Messages">
      {toasts.map(({ id, text, tone, undo }) => (
        <div key={id} className="toast" data-tone={tone}>
          <span>{text}</span>
          {undo && (
            <Button kind="link" onClick={() => undoToast(id)}>
              Undo
            </Button>
          )}
          <Button kind="icon" icon="close" label="Close" onClick={() => closeToast(id)} />
          {undo && <span className="toast-time" />}
        </div>
      ))}
    </div>
  );
}
