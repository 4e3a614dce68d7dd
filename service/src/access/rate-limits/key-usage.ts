import { count, dateTime, id, pageLimit } from '../../contract/schema.ts';
import type { Static } from '../../contract/static.ts';

/** For how many days the usage of keys is retained, today included. */
export const USAGE_DAYS = 90;

export const Ban = {
  title: 'Ban',
  type: 'object',
  description: 'A temporary ban of a key that continued to send requests after it was rejected.',
  required: ['since', 'until'],
  additionalProperties: false,
  properties: {
    since: { ...dateTime, description: 'When the ban began.' },
    until: { ...dateTime, description: 'When the ban ends by itself.' },
  },
  example: { since: '2026-11-21T12:00:31.204Z', until: '2026-11-21T12:01:32.000Z' },
} as const;

export const UsedWindow = {
  title: 'UsedWindow',
  type: 'object',
  required: ['limit', 'used', 'remaining', 'resetAt'],
  additionalProperties: false,
  properties: {
    limit: { ...count, description: 'Requests that the window admits.' },
    used: { ...count, description: 'Requests admitted so far. Rejected requests do not count.' },
    remaining: { ...count, description: 'Requests that the window will still admit.' },
    resetAt: { ...dateTime, description: 'When the window ends and the next begins.' },
  },
  example: { limit: 300, used: 12, remaining: 288, resetAt: '2026-11-21T12:01:00.000Z' },
} as const;

const UsedWindows = {
  title: 'UsedWindows',
  type: 'object',
  required: ['minute', 'day'],
  additionalProperties: false,
  properties: { minute: UsedWindow, day: UsedWindow },
  example: {
    minute: UsedWindow.example,
    day: { limit: 10_000, used: 2_412, remaining: 7_588, resetAt: '2026-11-22T00:00:00.000Z' },
  },
} as const;

export const DayUsage = {
  title: 'DayUsage',
  type: 'object',
  required: ['date', 'admitted', 'refused'],
  additionalProperties: false,
  properties: {
    date: { type: 'string', format: 'date', description: 'The UTC day.' },
    admitted: { ...count, description: 'Requests admitted on that day.' },
    refused: { ...count, description: 'Requests rejected with 429 on that day.' },
  },
  example: { date: '2026-11-21', admitted: 2_412, refused: 0 },
} as const;

/** The properties for a key's usage. */
const usageFields = {
  windows: UsedWindows,
  days: {
    type: 'array',
    items: DayUsage,
    maxItems: USAGE_DAYS,
    description: `Usage by UTC day, the latest first, without days without a request. Retained for ${USAGE_DAYS} days.`,
  },
} as const;

export const usageExample = {
  windows: UsedWindows.example,
  days: [DayUsage.example, { date: '2026-11-20', admitted: 9_120, refused: 31 }],
};

export const KeyUsage = {
  title: 'KeyUsage',
  type: 'object',
  required: ['keyId', 'windows', 'days'],
  additionalProperties: false,
  properties: { keyId: id, ...usageFields },
  example: { keyId: 2, ...usageExample },
} as const;

const { date, ...counts } = DayUsage.properties;

export const BusyKey = {
  title: 'BusyKey',
  type: 'object',
  required: ['keyId', 'name', 'admitted', 'refused'],
  additionalProperties: false,
  properties: {
    keyId: id,
    name: { type: 'string', maxLength: 200, description: 'The name of the key.' },
    ...counts,
  },
  example: { keyId: 2, name: 'Web shop', admitted: 2_412, refused: 0 },
} as const;

export const BusiestKeys = {
  title: 'BusiestKeys',
  type: 'object',
  required: ['date', 'keys'],
  additionalProperties: false,
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
} as const;

export type Ban = Static<typeof Ban>;
export type UsedWindow = Static<typeof UsedWindow>;
export type DayUsage = Static<typeof DayUsage>;
export type BusiestKeys = Static<typeof BusiestKeys>;
export type KeyUsage = Static<typeof KeyUsage>;
