import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatDateTime, httpDate, parseDateTime } from './dates.ts';

const EARLIEST = Date.parse('0000-01-01T00:00:00Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

describe('a date-time', () => {
  const read: [text: string, instant: string][] = [
    ['2026-12-01T09:00:00Z', '2026-12-01T09:00:00.000Z'],
    ['2026-12-01t09:00:00z', '2026-12-01T09:00:00.000Z'],
    ['2026-12-01T09:00:00.5Z', '2026-12-01T09:00:00.500Z'],
    ['2026-12-01T09:00:00.05Z', '2026-12-01T09:00:00.050Z'],
    ['2026-12-01T09:00:00.9999999999Z', '2026-12-01T09:00:00.999Z'],
    ['2026-12-01T09:00:00+02:30', '2026-12-01T06:30:00.000Z'],
    ['2026-12-01T09:00:00-02:30', '2026-12-01T11:30:00.000Z'],
    ['2026-12-01T09:00:00-00:00', '2026-12-01T09:00:00.000Z'],
    ['2026-12-01T00:00:00+23:59', '2026-11-30T00:01:00.000Z'],
    ['2026-12-31T23:30:00-01:00', '2027-01-01T00:30:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ];
  for (const [text, instant] of read) {
    it(`${text} is ${instant}`, () => assert.equal(formatDateTime(parseDateTime(text)!), instant));
  }

  const rejected: [text: string, why: string][] = [
    ['', 'is empty'],
    ['2026-12-01', 'has no time'],
    ['2026-12-01T09:00Z', 'has no seconds'],
    ['2026-12-01T09:00:00', 'has no offset'],
    ['2026-12-01 09:00:00Z', 'has a space for the T'],
    ['2026-12-01T09:00:00.Z', 'has an empty fraction'],
    ['2026-12-01T09:00:00,5Z', 'has a comma in its fraction'],
    ['2026-12-01T09:00:00+02', 'has half an offset'],
    ['2026-12-01T09:00:00+0200', 'has an offset without a colon'],
    ['2026-12-01T09:00:00+24:00', 'has an offset of a day'],
    ['2026-12-01T09:00:00+01:60', 'has an offset of 60 minutes'],
    ['2026-12-01T09:00:00 02:00', 'has a plus that was read as a space'],
    ['2026-00-01T09:00:00Z', 'has month 0'],
    ['2026-13-01T09:00:00Z', 'has month 13'],
    ['2026-12-00T09:00:00Z', 'has day 0'],
    ['2026-04-31T09:00:00Z', 'has April 31'],
    ['2026-02-29T09:00:00Z', 'has February 29 in a common year'],
    ['1900-02-29T09:00:00Z', 'has February 29 in 1900'],
    ['2026-12-01T24:00:00Z', 'has hour 24'],
    ['2026-12-01T09:60:00Z', 'has minute 60'],
    ['2026-12-31T23:59:60Z', 'has a leap second'],
    ['+002026-12-01T09:00:00Z', 'has a signed year'],
    ['12026-12-01T09:00:00Z', 'has a year of five digits'],
    ['٢٠٢٦-12-01T09:00:00Z', 'has digits that are not ASCII'],
    ['2026-12-01T09:00:00Z\n', 'ends in a line break'],
    [' 2026-12-01T09:00:00Z', 'begins with a space'],
    ['0000-01-01T00:00:00+00:01', 'is before the year 0 in UTC'],
    ['9999-12-31T23:59:59-00:01', 'is after the year 9999 in UTC'],
  ];
  for (const [text, why] of rejected) {
    it(`that ${why} is rejected`, () => assert.equal(parseDateTime(text), undefined));
  }

  it('is the same instant under every offset', () => {
    const offsets = fc.integer({ min: -1439, max: 1439 });
    const day = 24 * 60 * 60_000;
    fc.assert(
      fc.property(fc.integer({ min: EARLIEST + day, max: LATEST - day }), offsets, (instant, offset) => {
        const local = formatDateTime(instant + offset * 60_000).slice(0, -1);
        const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map(part =>
          String(part).padStart(2, '0'),
        );
        assert.equal(parseDateTime(`${local}${offset < 0 ? '-' : '+'}${hours}:${minutes}`), instant);
      }),
    );
  });

  it('that is parsed can always be formatted, and parsing never throws', () => {
    const digits = fc.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,4})?(Z|[+-]\d\d:\d\d)$/);
    fc.assert(
      fc.property(fc.oneof(digits, fc.string()), text => {
        const instant = parseDateTime(text);
        if (instant === undefined) return;
        assert.match(formatDateTime(instant), /^\d{4}-/);
        assert.equal(instant, Date.parse(text.toUpperCase()));
      }),
      { numRuns: 1_000 },
    );
  });
});

it('an HTTP-date has the only form that may be sent, with the right day of the week', () => {
  assert.equal(httpDate(Date.parse('2030-12-05T00:00:00Z')), 'Thu, 05 Dec 2030 00:00:00 GMT');
  assert.equal(httpDate(784_111_777_999), 'Sun, 06 Nov 1994 08:49:37 GMT');
});
