const RFC3339 =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/**
 * Reads an RFC 3339 date-time with offset (§5.6).
 *
 * Returns milliseconds since the Unix epoch, finer fractions cut off, or `undefined` when the text is not one.
 * Rejects leap seconds (`:60`), which neither store supports, and instants whose UTC year is not in 0–9999.
 */
export function parseDateTime(text: string): number | undefined {
  const day = RFC3339.exec(text)?.[1];
  // `Date` reads February 30 as March 2.
  if (day === undefined || !new Date(day).toJSON()?.startsWith(day)) return undefined;
  const instant = new Date(text.toUpperCase());
  const year = instant.getUTCFullYear();
  return year >= 0 && year <= 9999 ? instant.getTime() : undefined;
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
