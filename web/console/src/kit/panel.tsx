import { type ReactNode, useEffect } from 'react';
import { Button } from './button.tsx';
import { useModal } from './modal.ts';

interface PanelProps {
  title: string;
  children: ReactNode;
  onClose: () => void;
  /** A panel is at the side, and on phones at the bottom. A question is in the middle. */
  kind?: 'panel' | 'question' | undefined;
  /** Whether the user types at once, also on a phone, whose keyboard would cover other panels. */
  isTyped?: boolean;
}

/** A modal dialog. The browser keeps the focus in it, closes it with Escape, and returns the focus afterwards. */
export function Panel({ title, children, onClose, kind = 'panel', isTyped = false }: PanelProps) {
  const modal = useModal(onClose);
  const dialog = modal.ref;
  useEffect(() => {
    if (isTyped || matchMedia('(pointer: fine)').matches)
      dialog.current?.querySelector<HTMLElement>('.panel-body :is(input, select, textarea):enabled')?.focus();
  }, [dialog, isTyped]);
  return (
    <dialog
      ref={modal.ref}
      onKeyDown={modal.onKeyDown}
      onClick={modal.onClick}
      className={kind}
      aria-label={title}
    >
      <div className="panel-content">
        <header className="panel-header">
          <h2>{title}</h2>
          <Button kind="icon" icon="close" label="Close" onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface QuestionProps {
  title: string;
  children: ReactNode;
  /** What the user agrees to, as a verb: "Delete". */
  action: string;
  /** What kind of button it is. */
  kind?: 'danger' | 'main';
  /** What the user does instead. */
  dismissal?: string;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks before an action that cannot be undone. */
export function Question(props: QuestionProps) {
  const { title, children, action, kind = 'danger', dismissal = 'Keep', onConfirm, onClose } = props;
  return (
    <Panel title={title} kind="question" onClose={onClose}>
      <div className="panel-body">{children}</div>
      <footer className="panel-footer">
        <Button onClick={onClose}>{dismissal}</Button>
        <Button kind={kind} onClick={onConfirm}>
          {action}
        </Button>
      </footer>
    </Panel>
  );
}
