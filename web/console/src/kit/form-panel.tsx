import { type ComponentProps, type FormEvent, type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { Panel, Question } from './panel.tsx';
import { RestoredNote } from './restored-note.tsx';

interface FormPanelProps extends Pick<ComponentProps<typeof Panel>, 'kind'> {
  title: string;
  /** What `useSubmit` returns. */
  form: { submit: (event: FormEvent) => void; isBusy: boolean; errors: { general: string | undefined } };
  /** The verb of the button that submits, such as "Save". Without it the form can only be read. */
  action?: string | undefined;
  /** Whether another button is the main one of the panel. */
  isSecondary?: boolean;
  /** Deletes the item, after a question with this text. `verb` is what it is called, if not "Delete". */
  deletion?: { text: string; verb?: string; onConfirm: () => void } | undefined;
  /** Discards what was typed before the panel was closed or the page was loaded again, if the form shows that. */
  onDiscard?: (() => void) | undefined;
  /** What happened to the form meanwhile. */
  note?: string | undefined;
  /** Why the item could not be read again. */
  error?: Error | null;
  /** What is shown instead of the error that belongs to no field, with a link to what prevents it. */
  rejection?: ReactNode;
  /** What is above the form and has forms of its own. */
  lead?: ReactNode;
  children: ReactNode;
  onClose: () => void;
}

/** A panel with a form, and its buttons where a thumb reaches them. */
export function FormPanel({
  title,
  kind,
  form,
  action,
  isSecondary = false,
  deletion,
  onDiscard,
  note,
  error,
  rejection,
  lead,
  children,
  onClose,
}: FormPanelProps) {
  const [isDeleting, setDeleting] = useState(false);
  const verb = deletion?.verb ?? 'Delete';
  // Next to the buttons that caused it, however long the form is.
  const problem = form.errors.general && (
    <p className="field-error" role="alert">
      {rejection || form.errors.general}
    </p>
  );
  return (
    <Panel title={title} kind={kind} onClose={onClose}>
      {lead}
      {/* Enter in the only field of a form submits it, also if it has no button. */}
      <form onSubmit={event => (action ? form.submit(event) : event.preventDefault())}>
        <div className="panel-body">
          {onDiscard && <RestoredNote onDiscard={onDiscard} />}
          <p className={note ? 'note' : 'visually-hidden'} role="status">
            {note}
          </p>
          {error && <p className="field-error">{error.message}</p>}
          {children}
          {!action && problem}
        </div>
        {action && (
          <footer className="panel-footer">
            {problem}
            {deletion && (
              <Button
                kind="danger"
                icon="trash"
                className="first"
                disabled={form.isBusy}
                onClick={() => setDeleting(true)}
              >
                {verb}
              </Button>
            )}
            <Button onClick={onClose}>Close</Button>
            <Button kind={isSecondary ? 'plain' : 'main'} type="submit" disabled={form.isBusy}>
              {form.isBusy ? `${action} …` : action}
            </Button>
          </footer>
        )}
      </form>
      {isDeleting && deletion && (
        <Question
          title={`${verb} ${title}?`}
          action={verb}
          onClose={() => setDeleting(false)}
          onConfirm={() => {
            setDeleting(false);
            deletion.onConfirm();
          }}
        >
          <p>{deletion.text}</p>
        </Question>
      )}
    </Panel>
  );
}
