import { count, dateTime, id, int32, nameText } from '../../contract/schema.ts';
import { shape } from '../../contract/shape.ts';
import type { Static } from '../../contract/static.ts';
import { BUSY_MINUTES, OF_MINUTES } from '../../counters/windows.ts';
import { EventKind } from '../../events/event-log/event-kind.ts';
import { QUOTA_PERCENTS } from './quota-rule.ts';

/** The most warnings of a key that a response has. */
export const MOST_SHOWN = 50;

const windowField = {
  type: 'string',
  enum: ['minute', 'day'],
  description:
    `The window whose requests are used: the \`day\`; or the \`minute\`, when ${BUSY_MINUTES} of the last ${OF_MINUTES} minutes ` +
    'were used up.',
} as const;

const percent = {
  ...int32,
  minimum: QUOTA_PERCENTS[0],
  maximum: QUOTA_PERCENTS[2],
  description: 'The part of the limit that is used, in percent: 80, 95 or 100. For minutes it is 100.',
} as const;

const limit = { ...count, minimum: 1, description: 'Requests that the window admits.' } as const;

/** A warning as its holder reads it. */
export const QuotaWarning = shape({
  title: 'QuotaWarning',
  properties: {
    window: windowField,
    percent,
    limit,
    passedAt: { ...dateTime, description: 'When the key had used this part.' },
  },
  example: { window: 'day', percent: 80, limit: 10_000, passedAt: '2026-11-21T12:00:00.000Z' },
});

const KeyQuota = shape({
  title: 'KeyQuota',
  properties: {
    keyId: { ...id, description: 'The ID of the API key.' },
    name: { ...nameText, description: 'The name of the API key.' },
    window: windowField,
    percent,
    limit,
    used: { ...count, description: 'Requests admitted in the window when the warning was given.' },
    resetAt: { ...dateTime, description: 'When the window ends.' },
  },
  example: {
    keyId: 2,
    name: 'Web shop',
    window: 'day',
    percent: 80,
    limit: 10_000,
    used: 8_000,
    resetAt: '2026-11-22T00:00:00.000Z',
  },
});

export const keyQuotaEvents = new EventKind({
  title: 'KeyQuotaReachedEvent',
  types: ['key.quota_reached'],
  data: KeyQuota,
});

export type QuotaWarning = Static<typeof QuotaWarning>;
