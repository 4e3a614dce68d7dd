import { dateTime, id, int32, nameText } from '../../contract/schema.ts';
import { shape } from '../../contract/shape.ts';
import type { Static } from '../../contract/static.ts';
import { EventKind } from '../../events/event-log/event-kind.ts';
import { DAY } from '../../kit/clock.ts';

/** How many days before its end a key is warned, the earliest warning first. */
export const EXPIRY_DAYS = [14, 3, 1] as const;

/** Returns when the next warning before the end of a key is due; null if there is none. Instants are in milliseconds since the Unix epoch. */
export function nextExpiryWarning(expiresAt: number | null, now: number): number | null {
  if (expiresAt === null) return null;
  const next = EXPIRY_DAYS.find(days => expiresAt - days * DAY > now);
  return next === undefined ? null : expiresAt - next * DAY;
}

/** Returns the nearest warning that is due; `undefined` if none is, or the key has expired. */
export function dueExpiryWarning(expiresAt: number, now: number): (typeof EXPIRY_DAYS)[number] | undefined {
  if (expiresAt <= now) return undefined;
  return EXPIRY_DAYS.findLast(days => expiresAt - days * DAY <= now);
}

const days = {
  ...int32,
  minimum: EXPIRY_DAYS[2],
  maximum: EXPIRY_DAYS[0],
  description: 'The number of days before the end: 14, 3 or 1.',
} as const;

/** A warning as its holder reads it. */
export const ExpiryWarning = shape({
  title: 'ExpiryWarning',
  properties: {
    days,
    passedAt: { ...dateTime, description: 'When so many days were left.' },
  },
  example: { days: 14, passedAt: '2026-11-21T12:00:00.000Z' },
});

const KeyExpiry = shape({
  title: 'KeyExpiry',
  properties: {
    keyId: { ...id, description: 'The ID of the API key.' },
    name: { ...nameText, description: 'The name of the API key.' },
    days: { ...days, description: 'The warning: 14, 3 or 1, at most so many days before the end.' },
    expiresAt: { ...dateTime, description: 'When the key expires.' },
  },
  example: { keyId: 2, name: 'Web shop', days: 14, expiresAt: '2026-12-05T12:00:00.000Z' },
});

export const keyExpiryEvents = new EventKind({
  title: 'KeyExpiringEvent',
  types: ['key.expiring'],
  data: KeyExpiry,
});

export type ExpiryWarning = Static<typeof ExpiryWarning>;
export type KeyExpiry = Static<typeof KeyExpiry>;
