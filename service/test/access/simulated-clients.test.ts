import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { planLimits } from '../../src/access/plans/plan.ts';
import { readConfig } from '../../src/config.ts';
import { newState } from '../../src/counters/decide.ts';
import { MemoryCounters } from '../../src/counters/memory.ts';
import type { WindowLimits } from '../../src/counters/windows.ts';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import { Random } from '../support/random.ts';
import { Agenda } from './simulation/agenda.ts';
import { Hammerer, type Hammering } from './simulation/hammerer.ts';
import { type Latency, ObedientClient } from './simulation/obedient-client.ts';

const OBEDIENT_CLIENTS = 10_000;
const HAMMERERS = 1_000;
/** The groups run one after the other through the same minutes: so few clients fit into a processor's cache. */
const GROUPS = 50;
const SEED = 20_261_121;

/** Midnight is in the middle, so that days end as well as minutes. */
const START = Date.parse('2026-11-21T23:58:00.000Z');
const END = START + 3 * MINUTE;
/** All have started by then, which leaves a hammerer the rest of its minute and a whole one before midnight. */
const STARTS_WITHIN = 45 * SECOND;

const { banRules } = readConfig({});

function drawLimits(random: Random): WindowLimits {
  const quotas = { perMinute: random.between(1, 400), perDay: random.between(1, 4_000) };
  const { free, pro, business } = planLimits;
  return random.pick([free, free, free, pro, pro, business, quotas, quotas]);
}

/** Half of the clients have nearly used up their day already. */
function restoreDay(counters: MemoryCounters, keyId: number, { perDay }: WindowLimits, random: Random): void {
  if (random.next() < 0.5) return;
  const dayUsed = Math.max(0, perDay - random.between(0, 200));
  counters.restore(keyId, { ...newState(START), dayUsed });
}

/** Every round trip takes less than two seconds. For some clients, each direction can take up to that long. */
function drawLatency(random: Random): Latency {
  const longestTogether = random.pick([20, 200, 1_000, 1_999]);
  if (random.next() < 0.3)
    return { longestUp: longestTogether, longestDown: longestTogether, longestTogether };
  const longestUp = random.between(0, longestTogether);
  return { longestUp, longestDown: longestTogether - longestUp, longestTogether };
}

function drawObedient(
  keyId: number,
  counters: MemoryCounters,
  agenda: Agenda,
  random: Random,
): ObedientClient {
  const limits = drawLimits(random);
  restoreDay(counters, keyId, limits, random);
  const latency = drawLatency(random);
  const parallelism = random.between(1, 50);
  const client = new ObedientClient({
    keyId,
    counters,
    agenda,
    random,
    banRules,
    limits,
    latency,
    parallelism,
  });
  const start = START + random.between(0, STARTS_WITHIN);
  agenda.add(start, () => client.start());
  if (random.next() < 0.3) {
    const change = start + random.between(0, MINUTE);
    agenda.add(change, () => client.changeLimits(drawLimits(random)));
    agenda.add(change + random.between(0, 5 * SECOND), () => client.changeLimits(drawLimits(random)));
  }
  return client;
}

/** A way to hammer that gets at least ten requests a minute rejected after the forgiveness. */
function drawHammering({ perMinute }: WindowLimits, dayIsUsedUp: boolean, random: Random): Hammering {
  const isBursty = random.next() < 0.5;
  if (dayIsUsedUp) {
    if (!isBursty) return { requests: 1, every: Math.floor(MINUTE / random.between(10, 600)) };
    const every = random.between(3, 20) * SECOND;
    return { requests: Math.ceil((10 * every) / MINUTE) + random.between(0, 20), every };
  }
  if (isBursty) return { requests: perMinute + 10, every: random.between(3, 15) * SECOND };
  // Of the steady requests of a minute, `perMinute` are admitted, and those of the next two seconds are ignored.
  const least = ((perMinute + 11) * MINUTE) / (MINUTE - banRules.forgiveness);
  return { requests: 1, every: MINUTE / (least * (1 + random.next() * 4)) };
}

function drawHammerer(keyId: number, counters: MemoryCounters, agenda: Agenda, random: Random): Hammerer {
  const limits = drawLimits(random);
  const dayIsUsedUp = random.next() < 0.5;
  if (dayIsUsedUp) counters.restore(keyId, { ...newState(START), dayUsed: limits.perDay });
  const hammering = drawHammering(limits, dayIsUsedUp, random);
  const hammerer = new Hammerer({ keyId, counters, agenda, limits, banRules, hammering });
  agenda.add(START + random.between(0, STARTS_WITHIN), () => hammerer.start());
  return hammerer;
}

describe(`${OBEDIENT_CLIENTS} clients that wait after a 429 and ${HAMMERERS} that do not`, () => {
  const obedient: ObedientClient[] = [];
  const hammerers: Hammerer[] = [];

  before(() => {
    const random = new Random(SEED);
    const counters = new MemoryCounters();
    let keyId = 0;
    for (let group = 1; group <= GROUPS; group++) {
      const agenda = new Agenda(START, END);
      while (obedient.length < (OBEDIENT_CLIENTS * group) / GROUPS) {
        obedient.push(drawObedient(++keyId, counters, agenda, random));
      }
      while (hammerers.length < (HAMMERERS * group) / GROUPS) {
        hammerers.push(drawHammerer(++keyId, counters, agenda, random));
      }
      agenda.run();
    }
  });

  it('are a valid test: most of those that wait were rejected, and admitted again later', () => {
    const rejected = obedient.filter(client => client.rejected > 0).length;
    const admittedAgain = obedient.filter(client => client.admittedAfterRejection > 0).length;
    assert.ok(rejected > 0.9 * OBEDIENT_CLIENTS && admittedAgain > 0.8 * OBEDIENT_CLIENTS);
  });

  it('never get a ban when they wait', () => {
    const banned = obedient.filter(client => client.bans > 0);
    assert.deepEqual(
      banned.map(({ keyId }) => keyId),
      [],
    );
  });

  it('do not even get a strike when their slowest round trip fits into the forgiveness', () => {
    const steady = obedient.filter(client => client.isSteadyWithin(banRules.forgiveness));
    assert.ok(steady.length > 0.7 * OBEDIENT_CLIENTS);
    assert.deepEqual(
      steady.filter(client => client.strikes > 0).map(({ keyId }) => keyId),
      [],
    );
  });

  it('get a ban when they do not wait, within ten rejected requests after the forgiveness', () => {
    const unbanned = hammerers.filter(hammerer => hammerer.bannedAt === undefined);
    assert.deepEqual(
      unbanned.map(({ keyId }) => keyId),
      [],
    );
    assert.equal(Math.max(...hammerers.map(hammerer => hammerer.rejectedAfterForgiveness)), banRules.strikes);
  });
});

const smallLimits = fc.record({
  perMinute: fc.integer({ min: 1, max: 20 }),
  perDay: fc.integer({ min: 1, max: 60 }),
});

describe('a client that waits after a 429', () => {
  it('never gets a strike, whatever its parallelism, its latency and its plans', () => {
    const anyClient = fc.record({
      seed: fc.integer(),
      start: fc.integer({ min: 0, max: 2 * MINUTE }),
      parallelism: fc.integer({ min: 1, max: 50 }),
      longestUp: fc.integer({ min: 0, max: 1_999 }),
      longestDown: fc.integer({ min: 0, max: 1_999 }),
      limits: smallLimits,
      changes: fc.array(fc.tuple(fc.integer({ min: 0, max: 3 * MINUTE }), smallLimits), { maxLength: 5 }),
    });
    fc.assert(
      fc.property(
        anyClient.filter(({ longestUp, longestDown }) => longestUp + longestDown < 2 * SECOND),
        ({ seed, start, parallelism, longestUp, longestDown, limits, changes }) => {
          const counters = new MemoryCounters();
          const agenda = new Agenda(START, END);
          const random = new Random(seed);
          const latency = { longestUp, longestDown, longestTogether: longestUp + longestDown };
          const client = new ObedientClient({
            keyId: 1,
            counters,
            agenda,
            random,
            banRules,
            limits,
            latency,
            parallelism,
          });
          agenda.add(START + start, () => client.start());
          for (const [at, limits] of changes) agenda.add(START + at, () => client.changeLimits(limits));
          agenda.run();
          assert.deepEqual([client.bans, client.strikes], [0, 0]);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('a client that does not wait', () => {
  it('is always banned at the tenth request after the forgiveness', () => {
    const hammering = fc.record({
      requests: fc.integer({ min: 1, max: 30 }),
      every: fc.integer({ min: 1, max: 6 * SECOND }),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: STARTS_WITHIN }),
        smallLimits,
        hammering,
        (start, limits, hammering) => {
          const counters = new MemoryCounters();
          counters.restore(1, { ...newState(START), dayUsed: limits.perDay });
          const agenda = new Agenda(START, END);
          const hammerer = new Hammerer({ keyId: 1, counters, agenda, limits, banRules, hammering });
          agenda.add(START + start, () => hammerer.start());
          agenda.run();
          assert.notEqual(hammerer.bannedAt, undefined);
          assert.equal(hammerer.rejectedAfterForgiveness, banRules.strikes);
        },
      ),
      { numRuns: 300 },
    );
  });
});
