const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/**
 * Reads an RFC 3339 date-time with offset (§5.6).
 *
 * Returns milliseconds since the Unix epoch, finer fractions cut off, or `undefined` when the text is not one.
 * Rejects leap seconds (`:60`), which neither store supports, and instants whose UTC year is not in 0–9999.
 */
export function parseDateTime(text: string): number | undefined {
  const match = RFC3339.exec(text);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const offsetHours = Number(match[9] ?? 0);
  const offsetMinutes = Number(match[10] ?? 0);
  if (hour > 23 || minute > 59 || second > 59 || offsetHours > 23 || offsetMinutes > 59) return undefined;
  const milliseconds = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  date.setUTCHours(hour, minute, second, milliseconds);
  const offset = (match[8] === '-' ? -1 : 1) * (offsetHours * 60 + offsetMinutes) * 60_000;
  const instant = date.getTime() - offset;
  const utcYear = new Date(instant).getUTCFullYear();
  return utcYear >= 0 && utcYear <= 9999 ? instant : undefined;
}

/** The instant (milliseconds since the epoch) of a text that is known to be an RFC 3339 date-time. Throws RangeError. */
export function toInstant(text: string): number {
  const instant = parseDateTime(text);
  if (instant === undefined) throw new RangeError(`${JSON.stringify(text)} is not an RFC 3339 date-time`);
  return instant;
}

/** An instant (milliseconds since the epoch) as RFC 3339 in UTC. */
export function formatDateTime(instant: number): string {
  return new Date(instant).toISOString();
}

/** An instant (milliseconds since the epoch) as an HTTP-date (RFC 9110 §5.6.7). */
export function httpDate(instant: number): string {
  return new Date(instant).toUTCString();
}

/** The UTC day of an instant (milliseconds since the epoch) as RFC 3339 full-date: YYYY-MM-DD. */
export function formatDate(instant: number): string {
  return formatDateTime(instant).slice(0, 10);
}
