import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY, HOUR, MINUTE, SECOND } from './clock.ts';
import { grouped, inBinaryUnitAndBytes, inSymbols, inWords } from './quantities.ts';

describe('a quantity in a text', () => {
  it('has separators between thousands', () => {
    assert.deepEqual([0, 999, 1_000, 65_536, 2 ** 31 - 1].map(grouped), [
      '0',
      '999',
      '1,000',
      '65,536',
      '2,147,483,647',
    ]);
  });

  it('of bytes is in KiB and in bytes', () => {
    assert.equal(inBinaryUnitAndBytes(64 * 1024), '64 KiB (65,536 bytes)');
  });

  it('of time is in the largest unit of which there are at least two', () => {
    assert.deepEqual([30 * DAY, DAY, 2 * HOUR, 90 * MINUTE, MINUTE, 15 * SECOND, SECOND].map(inWords), [
      '30 days',
      '24 hours',
      '2 hours',
      '90 minutes',
      '60 seconds',
      '15 seconds',
      'a second',
    ]);
    assert.deepEqual([DAY, 5 * MINUTE, 5 * SECOND, SECOND].map(inSymbols), ['24 h', '5 min', '5 s', '1 s']);
  });
});
