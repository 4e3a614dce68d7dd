import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { KeyUsage } from '@petstore/client';
import { usageByDay } from './usage-days.ts';

const window = { limit: 10, used: 1, remaining: 9, resetAt: '2026-11-22T00:00:00.000Z' };
const usage: KeyUsage = {
  keyId: 1,
  windows: { minute: window, day: window },
  days: [
    { date: '2026-11-21', admitted: 5, refused: 2 },
    { date: '2026-11-19', admitted: 7, refused: 0 },
  ],
  warnings: { quota: [], expiry: [] },
};

it('shows 90 days to the current UTC day, with the days that had no request, and the bans of each day', () => {
  const bans = ['2026-11-19T00:00:00.000Z', '2026-11-19T23:59:59.999Z', '2026-11-20T00:00:00.000Z'];
  const days = usageByDay(
    usage,
    bans.map(time => ({ time })),
  );
  assert.equal(days.length, 90);
  assert.deepEqual(days.slice(-3), [
    { time: Date.parse('2026-11-19') / 1000, admitted: 7, rejected: 0, bans: 2 },
    { time: Date.parse('2026-11-20') / 1000, admitted: 0, rejected: 0, bans: 1 },
    { time: Date.parse('2026-11-21') / 1000, admitted: 5, rejected: 2, bans: 0 },
  ]);
});
