import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RequestDurations } from './request-durations.ts';

it('the buckets of durations contain those up to and including their bound', () => {
  const durations = new RequestDurations();
  for (const seconds of [0.25, 0.5, 0.500001, 10, 10.5]) durations.observe('GET', '/pets', 200, seconds);
  const buckets = [...durations.text().matchAll(/le="(.+)"} (\d+)/g)].map(
    ([, bound, count]) => `${bound}: ${count}`,
  );
  assert.deepEqual(buckets.slice(7), [
    '0.1: 0',
    '0.25: 1',
    '0.5: 2',
    '1: 3',
    '2.5: 3',
    '5: 3',
    '10: 4',
    '+Inf: 5',
  ]);
});
