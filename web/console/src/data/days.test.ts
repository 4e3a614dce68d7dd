import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { addDays, dayIn, dayOf, instantOf, localTimeOf, startOf } from './days.ts';

const { TZ } = process.env;

/** Sets the time zone for the tests of a suite. Node.js reads the variable again when it changes. */
function useZone(zone: string): void {
  before(() => {
    process.env.TZ = zone;
  });
  after(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });
}

for (const [zone, day] of [
  ['Pacific/Auckland', '2026-11-22'],
  ['America/Los_Angeles', '2026-11-21'],
  ['Europe/Berlin', '2026-11-21'],
] as const) {
  describe(`a day in ${zone}`, () => {
    useZone(zone);

    it('is that of the time zone, and starts at its midnight', () => {
      assert.equal(dayOf('2026-11-21T12:00:00Z'), day);
      assert.equal(dayOf(startOf(day)), day);
      assert.equal(dayOf(Date.parse(startOf(day)) - 1), addDays(day, -1));
    });
  });
}

describe('a day in a URL', () => {
  it('is one of the calendar', () => {
    for (const day of ['2026-12-24', '2028-02-29', '9999-12-30']) assert.equal(dayIn(day), day);
    for (const none of [
      '2026-02-31',
      '2027-02-29',
      '2026-13-01',
      '2026-1-1',
      '24.12.2026',
      '9999-12-31',
      '',
      2026,
      null,
      undefined,
    ])
      assert.equal(dayIn(none), undefined, String(none));
  });
});

for (const [zone, instant] of [
  ['Asia/Kathmandu', '2026-12-24T03:45:00.000Z'],
  ['America/St_Johns', '2026-12-24T13:00:00.000Z'],
] as const) {
  describe(`a field for dates and times in ${zone}`, () => {
    useZone(zone);

    it('has the time of the time zone', () => {
      assert.equal(instantOf('2026-12-24T09:30'), instant);
      assert.equal(localTimeOf(instant), '2026-12-24T09:30');
    });

    it('shows what the user types while the year is not complete', () => {
      // Local time then differed from UTC by seconds as well.
      assert.equal(localTimeOf(instantOf('0202-12-24T09:30')!), '0202-12-24T09:30');
    });

    it('can have a year that no date has', () => {
      assert.equal(instantOf('202612-12-24T09:30'), undefined);
      assert.equal(instantOf(''), undefined);
    });
  });
}

describe('a day with a change to or from summer time', () => {
  useZone('Europe/Berlin');

  it('is followed by the next day', () => {
    assert.equal(addDays('2026-10-25', 1), '2026-10-26');
    assert.equal(Date.parse(startOf('2026-10-26')) - Date.parse(startOf('2026-10-25')), 25 * 3_600_000);
    assert.equal(addDays('2027-03-28', 1), '2027-03-29');
    assert.equal(addDays('2027-03-01', -1), '2027-02-28');
    assert.equal(addDays('2026-12-31', 1), '2027-01-01');
  });
});

for (const [zone, day, next] of [
  ['America/Santiago', '2026-09-06', '2026-09-07T03:00:00.000Z'],
  ['Africa/Cairo', '2027-04-30', '2027-04-30T21:00:00.000Z'],
] as const) {
  describe(`a day in ${zone} that starts at one o’clock, with summer time`, () => {
    useZone(zone);

    it('ends at midnight', () => {
      assert.equal(startOf(day, 1), next);
      assert.equal(dayOf(startOf(day)), day);
    });
  });
}
