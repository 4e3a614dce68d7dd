import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { HOUR, MINUTE, SECOND } from '../../kit/clock.ts';
import { nextAttemptAt } from './schedule.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const failed = { status: 500, retryAfter: undefined };

describe('the schedule of attempts', () => {
  it('varies each pause by a fifth at most', () => {
    const pauses = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR];
    for (const [i, pause] of [...pauses, 24 * HOUR].entries()) {
      assert.equal(nextAttemptAt(i + 1, failed, NOW, 0), NOW + 0.8 * pause);
      assert.equal(nextAttemptAt(i + 1, failed, NOW, 0.5), NOW + pause);
      assert.equal(nextAttemptAt(i + 1, failed, NOW, 1), NOW + 1.2 * pause);
    }
  });

  it('ends with the tenth attempt', () => {
    assert.equal(nextAttemptAt(10, failed, NOW, 0.5), undefined);
    assert.equal(nextAttemptAt(10, { status: 503, retryAfter: '5' }, NOW, 0.5), undefined);
  });

  it('is never shortened by `Retry-After`, nor extended beyond a day', () => {
    const retryAfter = fc.oneof(
      fc.string(),
      fc.nat().map(String),
      fc.date({ noInvalidDate: true }).map(String),
    );
    const status = fc.constantFrom(null, 200, 429, 500, 503);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), status, retryAfter, (failures, status, retryAfter) => {
        const next = nextAttemptAt(failures, { status, retryAfter }, NOW, 0.5)!;
        const scheduled = nextAttemptAt(failures, failed, NOW, 0.5)!;
        assert.ok(next >= scheduled && next <= Math.max(scheduled, NOW + 24 * HOUR), String(next));
      }),
    );
  });
});
