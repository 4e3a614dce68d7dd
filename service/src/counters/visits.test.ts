import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY, MINUTE } from '../kit/clock.ts';
import type { Terms } from './decide.ts';
import type { VisitTerms } from './decide-visit.ts';
import { MemoryCounters } from './memory.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const visitor: Terms = { limits: { perMinute: 2, perDay: 20 }, bansLiftedAt: 0, banRules: undefined };
const terms = { key: { ...visitor, limits: { perMinute: 1_000_000, perDay: 1_000_000 } }, visitor };

describe('visits counted in memory', () => {
  it('take bounded memory, however many visitors there are, and heavy users stay counted', () => {
    const counters = new MemoryCounters(8);
    for (let i = 0; i < 2; i++) counters.decideVisit(1, 'heavy', terms, NOON);
    for (let i = 0; i < 10_000; i++) counters.decideVisit(1, `10.0.${i >> 8}.${i & 255}`, terms, NOON);
    assert.equal(counters.visitors.size, 8);
    assert.equal(counters.addresses.size, 0);
    assert.equal(counters.decideVisit(1, 'heavy', terms, NOON).verdict, 'refused');
    assert.equal(counters.stateOfKey(1)!.dayUsed, 10_002);
  });

  it('are counted for each key separately, and apart from requests of the address without a key', () => {
    const counters = new MemoryCounters();
    for (let i = 0; i < 2; i++) counters.decideVisit(1, '192.0.2.1', terms, NOON);
    assert.equal(counters.decideVisit(1, '192.0.2.1', terms, NOON).verdict, 'refused');
    assert.equal(counters.decideVisit(2, '192.0.2.1', terms, NOON).verdict, 'admitted');
    assert.equal(counters.decideVisit(1, '192.0.2.2', terms, NOON).verdict, 'admitted');
    assert.equal(counters.decideAddress('192.0.2.1', visitor, NOON).remaining, 1);
  });

  it('start again when the limits of the key are reset', () => {
    const counters = new MemoryCounters();
    for (let i = 0; i < 3; i++) counters.decideVisit(1, '192.0.2.1', terms, NOON);
    const reset = { ...terms, key: { ...terms.key, resets: 1 } };
    assert.equal(counters.peekVisit(1, '192.0.2.1', reset, NOON).remaining, 2);
    assert.equal(counters.decideVisit(1, '192.0.2.1', reset, NOON).verdict, 'admitted');
    // A replica that does not know of the reset yet counts in the same windows.
    assert.equal(counters.decideVisit(1, '192.0.2.1', terms, NOON).verdict, 'admitted');
    assert.equal(counters.decideVisit(1, '192.0.2.1', reset, NOON).verdict, 'refused');
  });

  it('store the use of the key, also when midnight passes', () => {
    const counters = new MemoryCounters();
    counters.decideVisit(1, '192.0.2.1', terms, NOON);
    counters.decideVisit(1, '192.0.2.2', terms, NOON + DAY);
    const { states, endedDays } = counters.takeChanges();
    assert.deepEqual(
      [states.map(({ keyId, state }) => [keyId, state.dayUsed]), endedDays.map(({ admitted }) => admitted)],
      [[[1, 1]], [1]],
    );
    assert.equal(counters.peekVisit(1, '192.0.2.2', terms, NOON + DAY + MINUTE).boundBy, 'visitor');
  });

  it('of IPv6 count for their /48 as well, with ten times the limits, for each key separately and until its reset', () => {
    const counters = new MemoryCounters();
    const visit = (keyId: number, network: number, i: number, ofVisit: VisitTerms = terms) =>
      counters.decideVisit(keyId, `2001:db8:${network}:${i.toString(16)}::/64`, ofVisit, NOON);
    for (let i = 0; i < 20; i++) assert.equal(visit(1, 1, i).verdict, 'admitted');
    const rejected = visit(1, 1, 20);
    assert.deepEqual([rejected.verdict, rejected.boundBy, rejected.limit], ['refused', 'network', 20]);
    const seen = counters.peekVisit(1, '2001:db8:1:77::/64', terms, NOON);
    assert.deepEqual([seen.boundBy, seen.limit, seen.remaining], ['network', 20, 0]);
    assert.equal(counters.stateOfKey(1)!.dayUsed, 20);
    assert.equal(visit(1, 2, 0).verdict, 'admitted');
    assert.equal(visit(2, 1, 0).verdict, 'admitted');
    assert.equal(counters.decideVisit(1, '192.0.2.1', terms, NOON).verdict, 'admitted');
    const reset = { ...terms, key: { ...terms.key, resets: 1 } };
    assert.equal(visit(1, 1, 20, reset).verdict, 'admitted');
  });

  it('of many networks take bounded memory', () => {
    const counters = new MemoryCounters(8);
    for (let i = 0; i < 1_000; i++) counters.decideVisit(1, `2001:db8:${i.toString(16)}:1::/64`, terms, NOON);
    assert.deepEqual([counters.visitors.size, counters.networks.size], [8, 8]);
  });
});
