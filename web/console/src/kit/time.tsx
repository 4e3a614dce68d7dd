import { useEffect, useState } from 'react';

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });
const MINUTE = 60_000;
const units: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 1440 * MINUTE],
  ['hour', 60 * MINUTE],
  ['minute', MINUTE],
];

/** How long ago something happened, in words; the exact time in the user's time zone is shown on hover. */
export function Time({ at }: { at: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), MINUTE);
    return () => clearInterval(timer);
  }, []);
  const date = new Date(at);
  const exact = date.toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' });
  return (
    <time dateTime={at} title={exact}>
      {textOf(date.getTime() - now)}
    </time>
  );
}

function textOf(difference: number): string {
  for (const [unit, length] of units) {
    if (Math.abs(difference) >= length) return relative.format(Math.round(difference / length), unit);
  }
  return 'just now';
}
