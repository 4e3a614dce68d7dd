import { DAY, HOUR, MINUTE, SECOND } from './clock.ts';

/** In bytes. */
export const KIB = 1024;
export const MIB = 1024 * KIB;

/** `65,536`: a whole number with separators between thousands. `Intl` would take milliseconds to load. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `64 KiB`, `1 MiB` */
export function inBinaryUnit(bytes: number): string {
  return bytes < MIB ? `${bytes / KIB} KiB` : `${bytes / MIB} MiB`;
}

/** `64 KiB (65,536 bytes)` */
export function inBinaryUnitAndBytes(bytes: number): string {
  return `${inBinaryUnit(bytes)} (${grouped(bytes)} bytes)`;
}

const units = [
  { length: DAY, name: 'days', symbol: 'd' },
  { length: HOUR, name: 'hours', symbol: 'h' },
  { length: MINUTE, name: 'minutes', symbol: 'min' },
  { length: SECOND, name: 'seconds', symbol: 's' },
];

/** `24 hours`, `a second`: a duration in milliseconds, in the largest unit of which there are at least two. */
export function inWords(duration: number): string {
  if (duration === SECOND) return 'a second';
  const { length, name } = unitOf(duration);
  return `${duration / length} ${name}`;
}

/** `24 h`, `5 min` */
export function inSymbols(duration: number): string {
  const { length, symbol } = unitOf(duration);
  return `${duration / length} ${symbol}`;
}

function unitOf(duration: number) {
  return units.find(({ length }) => duration >= 2 * length) ?? units.at(-1)!;
}
