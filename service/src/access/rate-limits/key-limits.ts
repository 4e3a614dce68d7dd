import { type CountedKey, type Counters, type DayUse, dayUseOf } from '../../counters/counters.ts';
import {
  type BanRules,
  banAt,
  type Decision,
  type LimitState,
  newState,
  type Terms,
} from '../../counters/decide.ts';
import { windowsAt } from '../../counters/windows.ts';
import type { Queries, Writer } from '../../db/database.ts';
import { DAY, latestCredible, MINUTE } from '../../kit/clock.ts';
import { formatDate, formatDateTime } from '../../kit/dates.ts';
import type { Limits } from '../plans/plan.ts';
import { type Ban, type DayUsage, type KeyUsage, USAGE_DAYS, type UsedWindow } from './key-usage.ts';
import {
  deleteSpentLimits,
  deleteUsageAfter,
  deleteUsageBefore,
  type Spent,
  selectLimits,
  selectSpentLimits,
  selectUsage,
  type UsageRow,
} from './limit-queries.ts';
import { mergeUse, minuteOf, stateOf, storeChanges } from './stored-limits.ts';

/** Keys whose counts are written in one transaction. */
const FLUSHED_AT_ONCE = 200;

/** Rows that a sweep looks at in one slice. */
const SWEPT_AT_ONCE = 500;

export interface KeyLimitsOptions {
  db: Queries & Writer;
  counters: Counters;
  banRules: BanRules;
  /** Is told of each ban as it begins. */
  onBan: (keyId: number, ban: Ban) => void;
}

/** A key as far as its limits are concerned. */
export interface LimitedKey {
  keyId: number;
  terms: Terms;
}

/**
 * The limits, bans and use of API keys: decided by the counters and kept in the store from time to time, so that a restart
 * forgets nothing and a crash what was counted in memory alone since the last flush. Instants are in milliseconds since the
 * epoch.
 */
export class KeyLimits {
  readonly #db: Queries & Writer;
  readonly #counters: Counters;
  readonly #banRules: BanRules;
  readonly #onBan: (keyId: number, ban: Ban) => void;
  #flushing: Promise<void> | undefined;
  /** The key up to which the sweep has looked through the stored limits. */
  #sweptTo = 0;

  constructor({ db, counters, banRules, onBan }: KeyLimitsOptions) {
    this.#db = db;
    this.#counters = counters;
    this.#banRules = banRules;
    this.#onBan = onBan;
  }

  /** Goes on from what was kept. To be called before the first request. */
  async load(now: number): Promise<void> {
    const today = Math.floor(now / DAY);
    for (const row of await selectLimits(this.#db, today)) {
      const use = { day: today, dayUsed: row.admitted ?? 0, dayRejected: row.refused ?? 0 };
      this.#counters.restore(row.api_key_id, { ...stateOf(row), ...use });
    }
  }

  /** Decides a request of a key, and counts it. It answers a promise only when the counters do. */
  decide(key: LimitedKey, now: number): Decision | Promise<Decision> {
    const decision = this.#counters.decideKey(key.keyId, key.terms, now);
    if (decision instanceof Promise) return decision.then(decided => this.#noteBan(key, decided));
    return this.#noteBan(key, decision);
  }

  /** What is known of keys, wherever they were used; keys that nothing is known of are left out. */
  statesOf(keys: readonly CountedKey[]): Promise<Map<number, Readonly<LimitState>>> {
    return this.#counters.statesOfKeys(keys);
  }

  async stateOf(key: CountedKey): Promise<Readonly<LimitState> | undefined> {
    return (await this.#counters.statesOfKeys([key])).get(key.keyId);
  }

  /** The same as far as this process has seen it, for where nothing may be waited for. */
  seenStateOf(keyId: number, resets?: number): Readonly<LimitState> | undefined {
    return this.#counters.stateOfKey(keyId, resets);
  }

  /** What a key has used of its limits, and did on each day that is kept. */
  async usageOf(key: CountedKey, limits: Limits, now: number): Promise<Pick<KeyUsage, 'windows' | 'days'>> {
    const today = Math.floor(now / DAY);
    const state = (await this.stateOf(key)) ?? newState(now, key.resets);
    const windows = windowsAt(state, limits, now);
    const firstDay = today - USAGE_DAYS + 1;
    const kept = await selectUsage(this.#db, key.keyId, firstDay);
    const counted = [...this.#counters.daysOf(key.keyId), dayUseOf(key.keyId, state)];
    const isKnown = ({ day }: { day: number }) => day >= firstDay && day <= lastDay(now);
    return {
      windows: { minute: usedWindow(windows.minute), day: usedWindow(windows.day) },
      days: daysOf(kept.filter(isKnown), counted.filter(isKnown)),
    };
  }

  /**
   * Stores what was counted since the last flush, in transactions of a few hundred keys. What cannot be stored is left to
   * the next flush.
   */
  async flush(): Promise<void> {
    // The failure of an earlier flush goes to its own caller: this one stores what that one did not.
    while (this.#flushing) await this.#flushing.catch(() => {});
    this.#flushing = this.#storeChanges();
    try {
      await this.#flushing;
    } finally {
      this.#flushing = undefined;
    }
  }

  /**
   * Forgets a slice of the windows, bans and usage that no longer matter, in memory and in the store. Returns whether there
   * may be more.
   */
  async sweep(now: number): Promise<boolean> {
    const today = Math.floor(now / DAY);
    const isMoreInMemory = this.#counters.sweep(this.#banRules, now);
    const old = await deleteUsageBefore(this.#db, today - USAGE_DAYS + 1, SWEPT_AT_ONCE);
    const future = await deleteUsageAfter(this.#db, lastDay(now), SWEPT_AT_ONCE);
    const isMoreStored = await this.#sweepLimits({
      minute: (today * DAY) / MINUTE,
      // Strikes were taken before that.
      toldUntil: now - this.#banRules.strikesWithin,
      bannedUntil: now - this.#banRules.decay,
      latest: latestCredible(now),
    });
    return isMoreInMemory || old === SWEPT_AT_ONCE || future === SWEPT_AT_ONCE || isMoreStored;
  }

  async #sweepLimits(spent: Spent): Promise<boolean> {
    const after = this.#sweptTo;
    const next = await selectSpentLimits(this.#db, spent, { after, limit: SWEPT_AT_ONCE });
    if (next.spent > 0) await deleteSpentLimits(this.#db, spent, { after, upTo: next.last! });
    const isMore = next.keys === SWEPT_AT_ONCE;
    this.#sweptTo = isMore ? next.last! : 0;
    return isMore;
  }

  /** Ends with what had changed at its beginning: keys in constant use change again while it runs. */
  async #storeChanges(): Promise<void> {
    for (let left = this.#counters.changeCount(); left > 0; left -= FLUSHED_AT_ONCE) {
      const changes = this.#counters.takeChanges(FLUSHED_AT_ONCE);
      try {
        await this.#db.write(tx => storeChanges(tx, changes));
      } catch (error) {
        this.#counters.returnChanges(changes);
        throw error;
      }
    }
  }

  /** Tells of a ban that begins with this decision. */
  #noteBan({ keyId, terms }: LimitedKey, decision: Decision): Decision {
    const state = decision.banBegins ? this.seenStateOf(keyId, terms.resets) : undefined;
    const ban = state && banOf(state, terms.bansLiftedAt, state.bannedAt);
    if (ban) this.#onBan(keyId, ban);
    return decision;
  }
}

/** The ban of a key in this state, as it is told. */
export function banOf(
  state: Readonly<LimitState> | undefined,
  bansLiftedAt: number,
  now: number,
): Ban | null {
  const ban = state && banAt(state, bansLiftedAt, now);
  return ban ? { since: formatDateTime(ban.since), until: formatDateTime(ban.until) } : null;
}

/**
 * The minute in which a key was last used, as far as its state and the store know; 0 when it was not. What a clock that ran
 * ahead has noted is left out.
 */
export function lastUsedAt(
  state: Readonly<LimitState> | undefined,
  stored: number | null,
  now: number,
): number {
  const known = [minuteOf(state?.seenAt ?? 0), stored ?? 0];
  return Math.max(0, ...known.filter(instant => instant <= latestCredible(now)));
}

/** The last day that can have begun, in days since the Unix epoch. */
function lastDay(now: number): number {
  return Math.floor(latestCredible(now) / DAY);
}

/** The use of each day, the latest first. */
function daysOf(kept: readonly UsageRow[], counted: readonly DayUse[]): DayUsage[] {
  const days = new Map(kept.map(row => [row.day, row]));
  for (const use of counted) days.set(use.day, mergeUse(days.get(use.day), use));
  return [...days.values()]
    .sort((a, b) => b.day - a.day)
    .map(({ day, admitted, refused, earlier_admitted, earlier_refused }) => ({
      date: formatDate(day * DAY),
      admitted: earlier_admitted + admitted,
      refused: earlier_refused + refused,
    }))
    .filter(({ admitted, refused }) => admitted + refused > 0);
}

function usedWindow({
  limit,
  used,
  remaining,
  end,
}: {
  limit: number;
  used: number;
  remaining: number;
  end: number;
}): UsedWindow {
  return { limit, used, remaining, resetAt: formatDateTime(end) };
}
