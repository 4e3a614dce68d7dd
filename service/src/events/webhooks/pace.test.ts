import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mostAtOnce, Pace } from './pace.ts';

const quick = { error: null, duration: 10 };
const slow = { error: null, duration: 2_000 };
const failed = { error: 'Status 500', duration: 10 };

describe('the pace of a webhook', () => {
  it('starts with 8 at once, grows with each quick response up to 64, and then claims as many ahead', () => {
    const pace = new Pace();
    assert.deepEqual([pace.atOnce, pace.ahead], [8, 0]);
    pace.adapt(quick);
    assert.deepEqual([pace.atOnce, pace.ahead], [9, 9]);
    for (let i = 0; i < 100; i++) pace.adapt(quick);
    assert.deepEqual([pace.atOnce, pace.ahead], [64, 64]);
  });

  it('shrinks with slow responses, to 8 at the least', () => {
    const pace = new Pace();
    for (let i = 0; i < 3; i++) pace.adapt(quick);
    pace.adapt(slow);
    assert.equal(pace.atOnce, 10);
    for (let i = 0; i < 10; i++) pace.adapt(slow);
    assert.deepEqual([pace.atOnce, pace.ahead], [8, 0]);
  });

  it('is halved by each failure, to 2 at the least, which is the limit of a failing webhook', () => {
    const pace = new Pace();
    for (let i = 0; i < 56; i++) pace.adapt(quick);
    pace.adapt(failed);
    assert.equal(pace.atOnce, 32);
    assert.deepEqual(
      [mostAtOnce({ failing_since: 1 }, 32), mostAtOnce({ failing_since: null }, 32)],
      [2, 32],
    );
    for (let i = 0; i < 10; i++) pace.adapt(failed);
    assert.equal(pace.atOnce, 2);
  });
});
