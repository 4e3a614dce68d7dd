import { SelectField } from './field.tsx';

const HOUR = 3600;

/** The grace that is chosen at first, in seconds. */
export const ONE_DAY = 24 * HOUR;

/** How long the earlier secret continues to work after a rotation, in seconds. */
const graces = [
  { seconds: 0, name: 'Not at all: the secret has leaked' },
  { seconds: HOUR, name: 'One hour' },
  { seconds: ONE_DAY, name: 'One day' },
  { seconds: 7 * ONE_DAY, name: 'Seven days' },
];

interface GraceFieldProps {
  label: string;
  value: number;
  /** The shortest grace that can be chosen. */
  min?: number;
  onChange: (seconds: number) => void;
}

/** Lets the user choose the grace of a rotation. */
export function GraceField({ label, value, min = 0, onChange }: GraceFieldProps) {
  return (
    <SelectField label={label} value={value} onChange={event => onChange(Number(event.target.value))}>
      {graces
        .filter(({ seconds }) => seconds >= min)
        .map(({ seconds, name }) => (
          <option key={seconds} value={seconds}>
            {name}
          </option>
        ))}
    </SelectField>
  );
}
