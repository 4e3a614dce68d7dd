import { DAY, HOUR, MINUTE, SECOND } from './clock.ts';

/** In bytes. */
export const KIB = 1024;

/** `65,536`: a whole number with its thousands apart. `Intl` would take milliseconds to load. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `64 KiB` */
export function inKibibytes(bytes: number): string {
  return `${bytes / KIB} KiB`;
}

/** `64 KiB (65,536 bytes)` */
export function inKibibytesAndBytes(bytes: number): string {
  return `${inKibibytes(bytes)} (${grouped(bytes)} bytes)`;
}

const units = [
  [DAY, 'days'],
  [HOUR, 'hours'],
  [MINUTE, 'minutes'],
  [SECOND, 'seconds'],
] as const;

/** `24 hours`: a duration in milliseconds, in the largest unit of which there are at least two. */
export function inWords(duration: number): string {
  const [unit, name] = units.find(([unit]) => duration >= 2 * unit) ?? [SECOND, 'seconds'];
  return `${duration / unit} ${name}`;
}
