import { useEffect, useState } from 'react';
import { wordsLocale } from './locale.ts';

const relative = new Intl.RelativeTimeFormat(wordsLocale, { numeric: 'auto', style: 'short' });
const MINUTE = 60_000;
const DAY = 86_400_000;
/** Each unit with its length and the length of the next shorter one. */
const units: readonly [Intl.RelativeTimeFormatUnit, length: number, shorter: number][] = [
  ['hour', 60 * MINUTE, MINUTE],
  ['minute', MINUTE, 0],
];
/** From here on a time is that of a day: 23 hours and 50 minutes are not 24 hours. */
const A_DAY = DAY - 30 * MINUTE;

interface TimeProps {
  at: string;
  /** Whether only its day counts: what was due an hour ago is due today. */
  isDay?: boolean;
}

/** How long ago something happened, in words; the exact time in the user's time zone is shown on hover. */
export function Time({ at, isDay = false }: TimeProps) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), MINUTE);
    return () => clearInterval(timer);
  }, []);
  const date = new Date(at);
  const exact = date.toLocaleString(wordsLocale, { dateStyle: 'full', timeStyle: 'long' });
  return (
    <time dateTime={at} title={exact}>
      {isDay || Math.abs(date.getTime() - now) >= A_DAY
        ? dayOf(date, new Date(now))
        : textOf(date.getTime() - now)}
    </time>
  );
}

function textOf(difference: number): string {
  for (const [unit, length, shorter] of units) {
    // 59 minutes and 40 seconds are an hour, and not 60 minutes.
    if (Math.abs(difference) >= length - shorter / 2)
      return relative.format(Math.round(difference / length), unit);
  }
  return 'just now';
}

function dayOf(date: Date, now: Date): string {
  // A day with a change of the clock has 23 or 25 hours.
  return relative.format(Math.round((midnightOf(date) - midnightOf(now)) / DAY), 'day');
}

const midnightOf = (date: Date): number => new Date(date).setHours(0, 0, 0, 0);
