import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { readConfig } from '../../src/config.ts';
import type { Terms } from '../../src/counters/decide.ts';
import { MemoryCounters } from '../../src/counters/memory.ts';
import type { WindowLimits } from '../../src/counters/windows.ts';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import { sized } from '../support/long.ts';
import { Random } from '../support/random.ts';

/** Midnight is in the middle, so that days end as well as minutes. */
const START = Date.parse('2026-11-21T23:58:00.000Z');
const END = START + 3 * MINUTE;

const { banRules } = readConfig({});

/** What happens at each millisecond of a simulation. Later events are dropped. */
class Agenda {
  now = START;
  readonly #events: (() => void)[][] = [];

  /** Instants are whole milliseconds, and never in the past. */
  add(at: number, event: () => void): void {
    this.#events[at - START] ??= [];
    this.#events[at - START]!.push(event);
  }

  run(): void {
    for (this.now = START; this.now < END; this.now++) {
      // An event may add others to the same millisecond.
      for (const event of this.#events[this.now - START] ?? []) event();
    }
  }
}

interface Latency {
  /** The maximum time of a request to the service, and of its response back, in milliseconds. */
  longestUp: number;
  longestDown: number;
}

/**
 * A client that sends as fast as it can on several connections until a 429 arrives. Then it sends nothing until the time that
 * the 429 states has passed since its arrival. Another 429 that arrives in that time can extend it, but never shorten it.
 */
class ObedientClient {
  readonly #agenda: Agenda;
  readonly #random: Random;
  readonly #latency: Latency;
  readonly counters = new MemoryCounters();
  /** A change of plan, which the client does not notice, replaces its limits. */
  readonly terms: Terms;
  rejected = 0;
  #idle: number;
  #waitsUntil = 0;

  constructor(agenda: Agenda, random: Random, latency: Latency, limits: WindowLimits, connections: number) {
    this.#agenda = agenda;
    this.#random = random;
    this.#latency = latency;
    this.terms = { limits, bansLiftedAt: 0, banRules };
    this.#idle = connections;
  }

  send(): void {
    const { longestUp, longestDown } = this.#latency;
    for (; this.#idle > 0; this.#idle--) {
      const up = this.#random.between(0, longestUp);
      // A request takes at least a millisecond.
      const down = Math.max(1, this.#random.between(0, longestDown));
      this.#agenda.add(this.#agenda.now + up, () => {
        const { verdict, wait } = this.counters.decideKey(1, this.terms, this.#agenda.now);
        if (verdict !== 'admitted') this.rejected++;
        this.#agenda.add(this.#agenda.now + down, () => this.#receive(verdict === 'admitted' ? 0 : wait));
      });
    }
  }

  #receive(wait: number): void {
    const { now } = this.#agenda;
    this.#idle++;
    if (wait > 0 && now + wait * SECOND > this.#waitsUntil) {
      this.#waitsUntil = now + wait * SECOND;
      this.#agenda.add(this.#waitsUntil, () => this.#sendUnlessWaiting());
    }
    this.#sendUnlessWaiting();
  }

  #sendUnlessWaiting(): void {
    if (this.#agenda.now >= this.#waitsUntil) this.send();
  }
}

const smallLimits = fc.record({
  perMinute: fc.integer({ min: 1, max: 20 }),
  perDay: fc.integer({ min: 1, max: 60 }),
});

it('a client that waits after a 429 never gets a strike, whatever its parallelism, its latency and its plans', () => {
  let rejected = 0;
  const client = fc.record({
    seed: fc.integer(),
    start: fc.integer({ min: 0, max: 2 * MINUTE }),
    connections: fc.integer({ min: 1, max: 50 }),
    longestUp: fc.integer({ min: 0, max: 1_999 }),
    longestDown: fc.integer({ min: 0, max: 1_999 }),
    limits: smallLimits,
    changes: fc.array(fc.tuple(fc.integer({ min: 0, max: 3 * MINUTE }), smallLimits), { maxLength: 5 }),
  });
  // A round trip is shorter than the forgiveness.
  const anyClient = client.filter(({ longestUp, longestDown }) => longestUp + longestDown < 2 * SECOND);
  fc.assert(
    fc.property(anyClient, ({ seed, start, connections, limits, changes, ...latency }) => {
      const agenda = new Agenda();
      const client = new ObedientClient(agenda, new Random(seed), latency, limits, connections);
      agenda.add(START + start, () => client.send());
      for (const [at, limits] of changes)
        agenda.add(START + at, () => Object.assign(client.terms, { limits }));
      agenda.run();
      const { bans, strikes } = client.counters.keys.find(1)!;
      assert.deepEqual([bans, strikes], [0, []]);
      rejected += client.rejected;
    }),
    { numRuns: sized(100, 2_000) },
  );
  assert.ok(rejected > 100, `${rejected}`);
});
