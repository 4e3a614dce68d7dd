import { useEffect, useState } from 'react';
import { type Day, dayOf } from './days.ts';

/** How often the day is compared with the clock, in milliseconds. */
const MINUTE = 60_000;

/** The current day of the user's time zone. A page that stays open over midnight is drawn again. */
export function useDay(): Day {
  const [day, setDay] = useState(() => dayOf(Date.now()));
  useEffect(() => {
    const timer = setInterval(() => setDay(dayOf(Date.now())), MINUTE);
    return () => clearInterval(timer);
  }, []);
  return day;
}
