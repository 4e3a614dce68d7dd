import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY, MINUTE } from '../kit/clock.ts';
import { MemoryCounters } from './memory.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const limits = { perMinute: 2, perDay: 3 };

describe('counters in memory', () => {
  it('count each subject by itself', () => {
    const counters = new MemoryCounters();
    counters.admit('key:1', limits, NOON);
    assert.equal(counters.admit('key:1', limits, NOON).remaining, 0);
    assert.equal(counters.admit('key:2', limits, NOON).remaining, 1);
    assert.equal(counters.admit('key:1', limits, NOON).admitted, false);
  });

  it('show what is left without counting, also to a subject never seen', () => {
    const counters = new MemoryCounters();
    for (let i = 0; i < 5; i++) assert.equal(counters.peek('key:1', limits, NOON).remaining, 2);
    counters.admit('key:1', limits, NOON);
    assert.equal(counters.peek('key:1', limits, NOON).remaining, 1);
    assert.equal(counters.peek('key:1', limits, NOON + MINUTE).remaining, 2);
  });

  it('start anew with each day, for every subject', () => {
    const counters = new MemoryCounters();
    const use = (subject: string, now: number) => {
      let admitted = 0;
      for (let minute = 0; minute < 4; minute++) {
        if (counters.admit(subject, limits, now + minute * MINUTE).admitted) admitted++;
      }
      return admitted;
    };
    assert.deepEqual([use('key:1', NOON), use('key:2', NOON)], [3, 3]);
    assert.deepEqual([use('key:1', NOON + DAY), use('key:2', NOON + DAY)], [3, 3]);
  });
});
