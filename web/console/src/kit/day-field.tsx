import { useEffect, useRef } from 'react';
import { LAST_DAY } from './last-day.ts';

interface DayFieldProps {
  label: string;
  /** A day such as `2026-12-24`. */
  value: string | undefined;
  /** Is called with `undefined` when the field has no day. */
  onChange: (day: string | undefined) => void;
}

/**
 * A filter for a day, whose place is the URL. The field is uncontrolled: the URL follows after a moment, and what React would write
 * meanwhile makes browsers forget the digits of a year that is being typed.
 */
export function DayField({ label, value = '', onChange }: DayFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  function show(): void {
    const { current } = field;
    if (current && current.value !== value) current.value = value;
  }
  useEffect(() => {
    if (document.activeElement !== field.current) show();
  });
  return (
    <label className="day">
      {label}
      <input
        ref={field}
        type="date"
        max={LAST_DAY}
        onBlur={show}
        onChange={({ target }) => {
          // Until its last digit is typed, the year is before 1000.
          if (target.value === '' || target.value >= '1000') onChange(target.value || undefined);
        }}
      />
    </label>
  );
}
