import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DAY, HOUR, MINUTE, SECOND } from '../kit/clock.ts';
import { AddressTable } from './address-table.ts';
import { decide, newState, type Terms } from './decide.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
/** Addresses are not banned. */
const terms: Terms = { limits: { perMinute: 3, perDay: 100 }, bansLiftedAt: 0, banRules: undefined };

/** A different address for each number up to 2^24. */
function address(number: number): string {
  return `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
}

function admittedOf(table: AddressTable, address: string, requests: number, now: number): number {
  let admitted = 0;
  for (let i = 0; i < requests; i++) {
    if (table.decide(address, terms, now).verdict === 'admitted') admitted++;
  }
  return admitted;
}

/** A full table whose addresses have sent one request each. */
function fullTable(capacity: number, now: number): AddressTable {
  const table = new AddressTable(capacity);
  for (let i = 0; i < capacity; i++) table.decide(address(i), terms, now);
  return table;
}

describe('the table of addresses', () => {
  it('counts each address separately and exactly while there is room', () => {
    const addresses = Array.from({ length: 10 }, (_, i) => address(i));
    const request = fc.record({
      from: fc.constantFrom(...addresses),
      step: fc.oneof(
        fc.constant(0),
        fc.integer({ min: 0, max: 20 * SECOND }),
        fc.integer({ min: 0, max: DAY }),
      ),
    });
    fc.assert(
      fc.property(fc.array(request, { maxLength: 200, size: 'max' }), requests => {
        const table = new AddressTable(addresses.length);
        const alone = new Map(addresses.map(from => [from, newState(NOON)]));
        let now = NOON;
        for (const { from, step } of requests) {
          now += step;
          assert.deepEqual(table.decide(from, terms, now), decide(alone.get(from)!, terms, now));
        }
      }),
    );
  });

  it('keeps an address with a tenth of its day used through a flood, even when its minute is over', () => {
    const table = new AddressTable(64);
    for (let i = 0; i < 10; i++) table.decide('192.0.2.1', terms, NOON + i * MINUTE);
    for (let i = 0; i < 10_000; i++) table.decide(address(i), terms, NOON + HOUR);
    const eleventh = table.decide(
      '192.0.2.1',
      { ...terms, limits: { perMinute: 99, perDay: 100 } },
      NOON + HOUR,
    );
    assert.equal(eleventh.remaining, 89);
  });

  it('shows the remaining requests of an address without counting, even of a new one', () => {
    const table = new AddressTable(2);
    for (let i = 0; i < 5; i++) assert.equal(table.peek('10.0.0.1', terms, NOON).remaining, 3);
    assert.equal(table.size, 0);
    table.decide('10.0.0.1', terms, NOON);
    assert.equal(table.peek('10.0.0.1', terms, NOON).remaining, 2);
    assert.equal(table.peek('10.0.0.1', terms, NOON + MINUTE).remaining, 3);
  });
});

describe('an address that used up its limits', () => {
  const FLOOD = 100_000;
  const victim = '192.0.2.1';

  for (const [rejection, requests] of [
    ['and was rejected', 4],
    ['and was not rejected yet', 3],
  ] as const) {
    it(`${rejection} stays rejected through a flood of addresses`, () => {
      const table = new AddressTable(4_096);
      assert.equal(admittedOf(table, victim, requests, NOON), 3);
      for (let i = 0; i < FLOOD; i++) {
        // The flood lasts for almost all of the minute.
        const now = NOON + Math.floor((i / FLOOD) * (MINUTE - SECOND));
        table.decide(address(i), terms, now);
        if (i % 10_000 === 9_999) assert.equal(table.decide(victim, terms, now).verdict, 'refused');
      }
      assert.equal(table.decide(victim, terms, NOON + MINUTE - 1).verdict, 'refused');
    });
  }

  it('stays rejected through a flood until its day ends when it used up the day', () => {
    const table = new AddressTable(64);
    const shortDay: Terms = { ...terms, limits: { perMinute: 3, perDay: 3 } };
    for (let i = 0; i < 4; i++) table.decide(victim, shortDay, NOON);
    for (let hour = 0; hour < 12; hour++) {
      for (let i = 0; i < 1_000; i++) table.decide(address(i), shortDay, NOON + hour * 60 * MINUTE);
      assert.equal(table.decide(victim, shortDay, NOON + hour * 60 * MINUTE).verdict, 'refused');
    }
    assert.equal(table.decide(victim, shortDay, NOON + DAY / 2).verdict, 'admitted');
  });

  it('can be removed when its window has ended', () => {
    const table = new AddressTable(64);
    for (let i = 0; i < 64; i++) admittedOf(table, address(i), 4, NOON);
    for (let i = 64; i < 128; i++) assert.equal(admittedOf(table, address(i), 4, NOON + MINUTE), 3);
    assert.equal(table.size, 64);
  });
});

describe('a full table', () => {
  it('replaces an address that is not waiting with a new one, and counts it exactly', () => {
    const table = fullTable(1_000, NOON);
    for (let i = 1_000; i < 2_000; i++) assert.equal(admittedOf(table, address(i), 5, NOON), 3);
    assert.equal(table.size, 1_000);
  });

  it('has room for new addresses behind some that are waiting', () => {
    for (const waiting of [8, 16]) {
      const table = fullTable(64, NOON);
      for (let i = 0; i < waiting; i++) admittedOf(table, address(i), 3, NOON);
      // The first new ones may pass the waiting addresses, and share the count.
      for (let i = 64; i < 66; i++) table.decide(address(i), terms, NOON);
      for (let i = 66; i < 90; i++) assert.equal(admittedOf(table, address(i), 5, NOON), 3);
    }
  });

  it('of waiting addresses makes all new ones share one count', () => {
    const table = new AddressTable(256);
    for (let i = 0; i < 256; i++) admittedOf(table, address(i), 4, NOON);
    let admitted = 0;
    for (let i = 256; i < 10_000; i++) admitted += admittedOf(table, address(i), 2, NOON + SECOND);
    assert.equal(admitted, terms.limits.perMinute);
    for (let i = 0; i < 256; i++) {
      assert.equal(table.decide(address(i), terms, NOON + SECOND).verdict, 'refused');
    }
    assert.equal(table.size, 256);
  });

  it('of heavy users has room for new addresses on the next day', () => {
    const table = new AddressTable(16);
    for (let minute = 0; minute < 4; minute++)
      for (let i = 0; i < 16; i++) admittedOf(table, address(i), 3, NOON + minute * MINUTE);
    for (let i = 16; i < 32; i++) assert.equal(admittedOf(table, address(i), 4, NOON + DAY), 3);
  });

  it('shows a new address the rest of the shared count', () => {
    const table = new AddressTable(16);
    for (let i = 0; i < 16; i++) admittedOf(table, address(i), 4, NOON);
    for (let i = 16; i < 32; i++) table.decide(address(i), terms, NOON);
    assert.equal(table.peek(address(99), terms, NOON).remaining, 0);
    assert.equal(table.decide(address(99), terms, NOON).verdict, 'refused');
  });

  it('admits no more than the limits of its addresses and of the shared count', () => {
    const senders = fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 100, size: 'max' });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), senders, (capacity, numbers) => {
        const table = new AddressTable(capacity);
        let admitted = 0;
        for (const number of numbers) admitted += admittedOf(table, address(number), 4, NOON);
        assert.ok(admitted <= (capacity + 1) * terms.limits.perMinute, `${admitted}`);
      }),
    );
  });
});
