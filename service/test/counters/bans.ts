import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type BanRules,
  banAt,
  isSpent,
  newState,
  type Terms,
  type Verdict,
} from '../../src/counters/decide.ts';
import type { WindowLimits } from '../../src/counters/windows.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import type { Rule } from './rule.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');

const rules: BanRules = {
  forgiveness: 2 * SECOND,
  strikes: 10,
  strikesWithin: MINUTE,
  durations: [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR],
  decay: DAY,
};

/** A caller whose day is used up, so that every request is rejected in every minute. */
class ExhaustedCaller {
  readonly #rule: Rule;
  readonly state = newState(NOON);
  terms: Terms = { limits: { perMinute: 1_000, perDay: 1 }, bansLiftedAt: 0, banRules: rules };

  private constructor(rule: Rule) {
    this.#rule = rule;
  }

  static async of(rule: Rule): Promise<ExhaustedCaller> {
    const caller = new ExhaustedCaller(rule);
    await caller.request(NOON);
    return caller;
  }

  async request(now: number): Promise<Verdict> {
    return (await this.#rule.decide(this.state, this.terms, now)).verdict;
  }

  /** Sends a request every second from `now` until the caller is banned. Returns the instant of the ban. */
  async requestUntilBanned(now: number): Promise<number> {
    for (let at = now; at < now + 2 * MINUTE; at += SECOND)
      if ((await this.request(at)) === 'banned') return at;
    throw new Error('no ban');
  }
}

interface Rejection {
  at: number;
  /** The instant until which the caller was asked to wait. */
  until: number;
}

/** The reference implementation: it stores everything that ever happened and evaluates all of it for each decision. */
class History {
  readonly #rules: BanRules;
  #admitted: number[] = [];
  /** The rejections since the last admitted request. */
  #rejections: Rejection[] = [];
  #strikes: number[] = [];
  #bans: Rejection[] = [];

  constructor(rules: BanRules) {
    this.#rules = rules;
  }

  get ban(): Rejection | undefined {
    return this.#bans.at(-1);
  }

  decide({ perMinute, perDay }: WindowLimits, bansLiftedAt: number, now: number): Verdict {
    if (this.ban && bansLiftedAt >= this.ban.at) {
      this.#bans = [];
      this.#strikes = [];
      this.#rejections = [];
    }
    if (this.ban && now < this.ban.until) return 'banned';
    const fullUntil = Math.max(this.#fullUntil(MINUTE, perMinute, now), this.#fullUntil(DAY, perDay, now));
    if (fullUntil === 0) {
      this.#admitted.push(now);
      this.#rejections = [];
      return 'admitted';
    }
    this.#rejections.push({ at: now, until: fullUntil });
    const latest = Math.max(...this.#rejections.map(({ until }) => until));
    const first = this.#rejections.find(({ until }) => until === latest)!;
    if (now - first.at < this.#rules.forgiveness) return 'refused';
    this.#strikes.push(now);
    const since = this.ban?.at ?? 0;
    const recent = this.#strikes.filter(at => at > since && now - at < this.#rules.strikesWithin);
    if (recent.length < this.#rules.strikes) return 'refused';
    this.#bans.push({ at: now, until: Math.floor((now + this.#nextDuration(now)) / SECOND) * SECOND });
    return 'banned';
  }

  /** The end of the window that contains `now` when `limit` requests were admitted in it, otherwise 0. */
  #fullUntil(length: number, limit: number, now: number): number {
    const start = now - (now % length);
    return this.#admitted.filter(at => at >= start).length >= limit ? start + length : 0;
  }

  /** A ban that follows another one within the decay has the next longer duration. */
  #nextDuration(now: number): number {
    const { durations, decay } = this.#rules;
    let rung = 0;
    let next = now;
    for (const { at, until } of this.#bans.toReversed()) {
      if (next - until >= decay) break;
      rung++;
      next = at;
    }
    return durations[Math.min(rung, durations.length - 1)]!;
  }
}

/** Tests strikes and bans with one implementation of the rule. */
export function describeBans(rule: Rule): void {
  const { decide, runs } = rule;

  describe(`requests after a rejection decided ${rule.name}`, () => {
    it('are ignored for two seconds, however many arrive', async () => {
      const caller = await ExhaustedCaller.of(rule);
      for (let at = NOON; at < NOON + 2 * SECOND; at += 10) assert.equal(await caller.request(at), 'refused');
      assert.deepEqual(caller.state.strikes, []);
      for (let i = 0; i < 9; i++) assert.equal(await caller.request(NOON + 2 * SECOND), 'refused');
      const { verdict, banBegins } = await decide(caller.state, caller.terms, NOON + 2 * SECOND);
      assert.deepEqual([verdict, banBegins], ['banned', true]);
      const { verdict: next, banBegins: again } = await decide(caller.state, caller.terms, NOON + 2 * SECOND);
      assert.deepEqual([next, again], ['banned', false]);
    });

    it('are ignored again for two seconds in each window that is used up', async () => {
      const state = newState(NOON);
      const terms: Terms = { limits: { perMinute: 1, perDay: 1_000 }, bansLiftedAt: 0, banRules: rules };
      for (let minute = 0; minute < 60; minute++) {
        for (let i = 0; i < 50; i++) {
          assert.notEqual((await decide(state, terms, NOON + minute * MINUTE + i * 40)).verdict, 'banned');
        }
      }
      assert.deepEqual(state.strikes, []);
    });

    it('start a ban when ten fall within any sixty seconds, but not when only nine do', async () => {
      const caller = await ExhaustedCaller.of(rule);
      await caller.request(NOON);
      // The tenth arrives exactly sixty seconds after the first, so there are never more than nine within sixty
      // seconds.
      for (let i = 0; i < 200; i++) {
        const at = NOON + 3 * SECOND + Math.floor(i / 9) * MINUTE + (i % 9) * SECOND;
        assert.equal(await caller.request(at), 'refused');
      }
      const other = await ExhaustedCaller.of(rule);
      await other.request(NOON);
      const first = NOON + 50 * SECOND;
      for (let i = 0; i < 9; i++) assert.equal(await other.request(first + i * SECOND), 'refused');
      assert.equal(await other.request(first + MINUTE - 1), 'banned');
    });

    it('do not ban a caller whose terms have no bans', async () => {
      const caller = await ExhaustedCaller.of(rule);
      caller.terms = { ...caller.terms, banRules: undefined };
      for (let i = 0; i < 1_000; i++) assert.equal(await caller.request(NOON + i * 100), 'refused');
    });
  });

  describe(`bans decided ${rule.name}`, () => {
    it('last 1, 5, 15 and 60 minutes, and 60 from then on', async () => {
      const caller = await ExhaustedCaller.of(rule);
      let now = NOON;
      for (const minutes of [1, 5, 15, 60, 60, 60]) {
        const at = await caller.requestUntilBanned(now);
        const end = at + minutes * MINUTE;
        assert.deepEqual(banAt(caller.state, 0, at), { since: at, until: end });
        assert.equal(await caller.request(end - 1), 'banned');
        assert.deepEqual([await caller.request(end), banAt(caller.state, 0, end)], ['refused', undefined]);
        now = end;
      }
    });

    it('end at the whole second that the response states', async () => {
      const caller = await ExhaustedCaller.of(rule);
      caller.terms = { ...caller.terms, limits: { perMinute: 1, perDay: 9 } };
      const odd = NOON + MINUTE - 5 * SECOND + 123;
      for (let i = 0; i < 9; i++) await caller.request(NOON + SECOND);
      for (let i = 0; i < 9; i++) await caller.request(odd);
      const { verdict, reset, wait } = await decide(caller.state, caller.terms, odd);
      assert.deepEqual([verdict, wait], ['banned', 60]);
      assert.equal(reset * SECOND, NOON + 2 * MINUTE - 5 * SECOND);
      assert.equal(await caller.request(reset * SECOND - 1), 'banned');
      assert.equal(await caller.request(reset * SECOND), 'admitted');
    });

    for (const [ahead, minutes] of [
      [-1, 5],
      [0, 1],
    ] as const) {
      it(`${minutes === 1 ? 'start at the first duration again' : 'continue with the next duration'} ${DAY + ahead} ms after the last one ended`, async () => {
        const caller = await ExhaustedCaller.of(rule);
        const end = (await caller.requestUntilBanned(NOON)) + MINUTE;
        const at = end + DAY + ahead;
        // The day has changed since: its one request is used up first.
        await caller.request(at - 20 * SECOND);
        await caller.request(at - 20 * SECOND);
        for (let i = 0; i < 9; i++) assert.equal(await caller.request(at - SECOND), 'refused');
        assert.equal(await caller.request(at), 'banned');
        assert.equal(caller.state.bannedUntil, Math.floor((at + minutes * MINUTE) / SECOND) * SECOND);
        assert.ok(!isSpent(caller.state, rules, at + MINUTE));
      });
    }

    it('leave nothing behind when they are lifted: the next one is the first again, and takes ten strikes', async () => {
      const caller = await ExhaustedCaller.of(rule);
      const first = await caller.requestUntilBanned(NOON);
      const second = await caller.requestUntilBanned(first + MINUTE);
      const lifted = second + 10 * SECOND;
      assert.equal(await caller.request(lifted), 'banned');
      caller.terms = { ...caller.terms, bansLiftedAt: lifted };
      assert.equal(banAt(caller.state, lifted, lifted), undefined);
      for (let i = 0; i < 20; i++)
        assert.equal(
          await caller.request(lifted + SECOND),
          'refused',
          'a new rejection, which starts the two seconds again',
        );
      const later = lifted + 3 * SECOND;
      for (let i = 0; i < 9; i++) assert.equal(await caller.request(later), 'refused');
      assert.equal(await caller.request(later), 'banned');
      assert.equal(caller.state.bannedUntil, later + MINUTE);
    });

    it('stay if they started after others were lifted', async () => {
      const caller = await ExhaustedCaller.of(rule);
      const at = await caller.requestUntilBanned(NOON);
      caller.terms = { ...caller.terms, bansLiftedAt: at - 1 };
      assert.equal(await caller.request(at + 1), 'banned');
      caller.terms = { ...caller.terms, bansLiftedAt: at };
      assert.equal(await caller.request(at + 2), 'refused');
    });
  });

  describe(`strikes and bans decided ${rule.name}`, () => {
    const someRules: fc.Arbitrary<BanRules> = fc.record({
      forgiveness: fc.constantFrom(0, 1, 2 * SECOND),
      strikes: fc.integer({ min: 1, max: 4 }),
      strikesWithin: fc.constantFrom(SECOND, 10 * SECOND, MINUTE),
      durations: fc.array(fc.integer({ min: SECOND, max: 5 * MINUTE }), { minLength: 1, maxLength: 4 }),
      decay: fc.constantFrom(MINUTE, 10 * MINUTE, HOUR),
    });
    const someLimits = fc.record({
      perMinute: fc.integer({ min: 1, max: 4 }),
      perDay: fc.integer({ min: 1, max: 12 }),
    });
    const requests = fc.array(
      fc.record({
        step: fc.oneof(
          { weight: 4, arbitrary: fc.constant(0) },
          { weight: 8, arbitrary: fc.integer({ min: 0, max: 3 * SECOND }) },
          { weight: 3, arbitrary: fc.integer({ min: 0, max: 2 * MINUTE }) },
          { weight: 1, arbitrary: fc.integer({ min: 0, max: 30 * HOUR }) },
        ),
        /** Whether an administrator lifts the ban just before the request. */
        liftsBan: fc.oneof({ weight: 20, arbitrary: fc.constant(false) }, fc.boolean()),
        change: fc.option(someLimits, { freq: 15, nil: undefined }),
      }),
      { minLength: 1, maxLength: 200, size: 'max' },
    );

    it('equal those of the whole history, for all requests, rules and liftsBan', async () => {
      const seen: Record<Verdict, number> = { admitted: 0, refused: 0, banned: 0 };
      await fc.assert(
        fc.asyncProperty(someRules, someLimits, requests, async (banRules, limits, requests) => {
          const state = newState(NOON);
          const history = new History(banRules);
          const terms: Terms = { limits, bansLiftedAt: 0, banRules };
          let now = NOON;
          for (const { step, liftsBan, change } of requests) {
            now += step;
            if (liftsBan) terms.bansLiftedAt = now;
            if (change) terms.limits = change;
            const hadBan = history.ban;
            const verdict = history.decide(terms.limits, terms.bansLiftedAt, now);
            const decision = await decide(state, terms, now);
            const begins = history.ban !== undefined && history.ban !== hadBan;
            assert.deepEqual([decision.verdict, decision.banBegins], [verdict, begins]);
            if (verdict === 'banned') assert.equal(state.bannedUntil, history.ban?.until);
            // A client that waits as long as the ban lasts, rounded up to seconds, has waited long enough.
            if (begins) assert.ok(state.bannedUntil <= now + Math.max(...banRules.durations));
            seen[verdict]++;
          }
        }),
        { numRuns: runs },
      );
      assert.ok(Math.min(...Object.values(seen)) > 2 * runs, JSON.stringify(seen));
    });
  });
}
