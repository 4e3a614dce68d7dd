import { type ComponentProps, type FocusEvent, type ReactNode, useId } from 'react';
import { Button } from './button.tsx';

export interface Conflict {
  /** The other side's value, as the user reads it. */
  theirs: ReactNode;
  onChoose: (choice: 'mine' | 'theirs') => void;
}

export interface Described {
  label: string;
  error?: string | undefined;
  conflict?: Conflict | undefined;
}

interface ControlProps {
  id: string;
  'aria-invalid': boolean;
  'aria-describedby': string | undefined;
}

/** A message of the service, whose names of fields and values are between backticks. */
const withCode = (message: string): ReactNode[] =>
  message.split('`').map((part, i) => (i % 2 === 0 ? part : <code key={part}>{part}</code>));

/** A label, a control, and below it what the service said about it. */
export function Field({
  label,
  error,
  conflict,
  children,
}: Described & { children: (control: ControlProps) => ReactNode }) {
  const id = useId();
  const hasNote = error !== undefined || conflict !== undefined;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        'aria-invalid': error !== undefined,
        'aria-describedby': hasNote ? `${id}-note` : undefined,
      })}
      <div id={`${id}-note`} role="alert">
        {error && <p className="field-error">{withCode(error)}</p>}
        {conflict && (
          <div className="conflict">
            <p>
              Changed elsewhere to <strong>{conflict.theirs}</strong>
            </p>
            <Button onClick={() => conflict.onChoose('mine')}>Keep mine</Button>
            <Button onClick={() => conflict.onChoose('theirs')}>Take theirs</Button>
          </div>
        )}
      </div>
    </div>
  );
}

export function TextField({ label, error, conflict, ...input }: Described & ComponentProps<'input'>) {
  return (
    <Field label={label} error={error} conflict={conflict}>
      {control => (
        <input
          autoComplete="off"
          {...(input.type === 'number' && { onFocus: selectAll })}
          {...input}
          {...control}
        />
      )}
    </Field>
  );
}

/** What is typed replaces the number of a field: 0 after 8 would otherwise be 80. */
export function selectAll({ currentTarget }: FocusEvent<HTMLInputElement>): void {
  currentTarget.select();
}

export function SelectField({ label, error, conflict, ...select }: Described & ComponentProps<'select'>) {
  return (
    <Field label={label} error={error} conflict={conflict}>
      {control => <select {...select} {...control} />}
    </Field>
  );
}
