import type { ComponentProps } from 'react';
import { type Described, Field } from './field.tsx';

interface LinesFieldProps extends Described, Omit<ComponentProps<'textarea'>, 'value' | 'onChange'> {
  lines: readonly string[];
  onChange: (lines: string[]) => void;
}

/** A field with one value on each line. */
export function LinesField({ label, error, conflict, lines, onChange, ...area }: LinesFieldProps) {
  return (
    <Field label={label} error={error} conflict={conflict}>
      {control => (
        <textarea
          rows={3}
          spellCheck={false}
          value={lines.join('\n')}
          onChange={event => onChange(event.target.value === '' ? [] : event.target.value.split('\n'))}
          {...area}
          {...control}
        />
      )}
    </Field>
  );
}

interface ChecksFieldProps<T extends string> extends Described {
  choices: readonly T[];
  /** What each choice means. */
  names: Readonly<Record<T, string>>;
  chosen: readonly T[];
  disabled?: boolean;
  onChange: (chosen: T[]) => void;
}

/** A group of check boxes. */
export function ChecksField<T extends string>(props: ChecksFieldProps<T>) {
  const { label, error, conflict, choices, names, chosen, disabled, onChange } = props;
  return (
    <Field label={label} error={error} conflict={conflict}>
      {({ id, 'aria-describedby': note }) => (
        // biome-ignore lint/a11y/useSemanticElements: the field has its label already, which would be the legend
        <div id={id} role="group" aria-label={label} aria-describedby={note} className="checks">
          {choices.map(choice => (
            <label key={choice}>
              <input
                type="checkbox"
                checked={chosen.includes(choice)}
                disabled={disabled}
                onChange={({ target }) =>
                  onChange(choices.filter(c => (c === choice ? target.checked : chosen.includes(c))))
                }
              />
              <span>
                {names[choice]} <small>{choice}</small>
              </span>
            </label>
          ))}
        </div>
      )}
    </Field>
  );
}
