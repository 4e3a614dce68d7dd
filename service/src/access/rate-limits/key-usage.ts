import { count, dateTime, id, pageLimit } from '../../contract/schema.ts';
import { shape } from '../../contract/shape.ts';
import type { Static } from '../../contract/static.ts';
import { EXPIRY_DAYS, ExpiryWarning } from '../key-warnings/expiry-warning.ts';
import { MOST_SHOWN, QuotaWarning } from '../key-warnings/quota-warning.ts';

/** For how many days the usage of keys is retained, today included. */
export const USAGE_DAYS = 90;

export const Ban = shape({
  title: 'Ban',
  description: 'A temporary ban of a key that continued to send requests after it was rejected.',
  properties: {
    since: { ...dateTime, description: 'When the ban began.' },
    until: { ...dateTime, description: 'When the ban ends by itself.' },
  },
  example: { since: '2026-11-21T12:00:31.204Z', until: '2026-11-21T12:01:32.000Z' },
});

export const UsedWindow = shape({
  title: 'UsedWindow',
  properties: {
    limit: { ...count, description: 'Requests that the window admits.' },
    used: { ...count, description: 'Requests admitted so far. Rejected requests do not count.' },
    remaining: { ...count, description: 'Requests that the window will still admit.' },
    resetAt: { ...dateTime, description: 'When the window ends and the next begins.' },
  },
  example: { limit: 300, used: 12, remaining: 288, resetAt: '2026-11-21T12:01:00.000Z' },
});

const UsedWindows = shape({
  title: 'UsedWindows',
  properties: { minute: UsedWindow, day: UsedWindow },
  example: {
    minute: UsedWindow.example,
    day: { limit: 10_000, used: 2_412, remaining: 7_588, resetAt: '2026-11-22T00:00:00.000Z' },
  },
});

export const DayUsage = shape({
  title: 'DayUsage',
  properties: {
    date: { type: 'string', format: 'date', description: 'The UTC day.' },
    admitted: { ...count, description: 'Requests admitted on that day.' },
    refused: { ...count, description: 'Requests rejected on that day because of the limits or a ban.' },
  },
  example: { date: '2026-11-21', admitted: 2_412, refused: 0 },
});

const KeyWarnings = shape({
  title: 'KeyWarnings',
  description: 'The warnings of a key. The events `key.quota_reached` and `key.expiring` report them, too.',
  properties: {
    quota: {
      type: 'array',
      items: QuotaWarning,
      maxItems: MOST_SHOWN,
      description: 'The parts of its limits that the key has used on this UTC day, the earliest first.',
    },
    expiry: {
      type: 'array',
      items: ExpiryWarning,
      maxItems: EXPIRY_DAYS.length,
      description: 'The warnings about the present `expiresAt` of the key, the earliest first.',
    },
  },
  example: { quota: [QuotaWarning.example], expiry: [] },
});

/** The properties for a key's usage. */
const usageFields = {
  windows: UsedWindows,
  days: {
    type: 'array',
    items: DayUsage,
    maxItems: USAGE_DAYS,
    description: `Usage by UTC day, the latest first, without days without a request. Retained for ${USAGE_DAYS} days.`,
  },
  warnings: KeyWarnings,
} as const;

export const usageExample = {
  windows: UsedWindows.example,
  days: [DayUsage.example, { date: '2026-11-20', admitted: 9_120, refused: 31 }],
  warnings: KeyWarnings.example,
};

export const KeyUsage = shape({
  title: 'KeyUsage',
  properties: { keyId: id, ...usageFields },
  example: { keyId: 2, ...usageExample },
});

const { date, ...counts } = DayUsage.properties;

const BusyKey = shape({
  title: 'BusyKey',
  properties: {
    keyId: id,
    name: { type: 'string', maxLength: 200, description: 'The name of the key.' },
    ...counts,
  },
  example: { keyId: 2, name: 'Web shop', admitted: 2_412, refused: 0 },
});

export const BusiestKeys = shape({
  title: 'BusiestKeys',
  properties: {
    date,
    keys: {
      type: 'array',
      items: BusyKey,
      maxItems: pageLimit.maximum,
      description: 'The keys with requests on that day, those with the most requests first.',
    },
  },
  example: { date: '2026-11-21', keys: [BusyKey.example] },
});

export type Ban = Static<typeof Ban>;
export type UsedWindow = Static<typeof UsedWindow>;
export type DayUsage = Static<typeof DayUsage>;
export type BusiestKeys = Static<typeof BusiestKeys>;
export type KeyUsage = Static<typeof KeyUsage>;
