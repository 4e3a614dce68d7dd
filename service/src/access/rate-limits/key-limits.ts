import type { Counters } from '../../counters/counters.ts';
import {
  type BanRules,
  banAt,
  type Decision,
  type LimitState,
  newState,
  type Terms,
} from '../../counters/decide.ts';
import { type CountedKey, type DayUse, dayUseOf } from '../../counters/key-states.ts';
import { OF_MINUTES, type Window, windowsAt } from '../../counters/windows.ts';
import type { Statements, Writer } from '../../db/database.ts';
import { DAY, latestCredible, MINUTE } from '../../kit/clock.ts';
import { formatDate, formatDateTime } from '../../kit/dates.ts';
import type { Limits } from '../plans/plan.ts';
import { type Ban, type DayUsage, type KeyUsage, USAGE_DAYS, type UsedWindow } from './key-usage.ts';
import { KeyUses } from './key-uses.ts';
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

/** Rows that a sweep checks in one slice. */
const SWEPT_AT_ONCE = 500;

interface KeyLimitsOptions {
  db: Statements & Writer;
  counters: Counters;
  banRules: BanRules;
  /** Called when a ban begins. */
  onBan: (keyId: number, ban: Ban) => void;
}

/** A key with the terms of its limits. */
export interface LimitedKey {
  keyId: number;
  terms: Terms;
}

/**
 * The limits, bans and usage of API keys: decided by the counters and stored periodically. A restart loses nothing; a crash
 * loses what was counted only in memory since the last flush. Instants are in milliseconds since the Unix epoch.
 */
export class KeyLimits {
  readonly #db: Statements & Writer;
  readonly #counters: Counters;
  readonly #banRules: BanRules;
  readonly #onBan: (keyId: number, ban: Ban) => void;
  /** Who uses the keys. */
  readonly uses = new KeyUses();
  #flushing: Promise<void> | undefined;
  /** The keys whose counts in Redis were not read since the start. */
  #unread: CountedKey[] = [];
  /** The ID of the key up to which the sweep has checked the stored limits. */
  #sweptTo = 0;

  constructor({ db, counters, banRules, onBan }: KeyLimitsOptions) {
    this.#db = db;
    this.#counters = counters;
    this.#banRules = banRules;
    this.#onBan = onBan;
  }

  /** Restores the stored counts. Must be called before the first request. */
  async load(now: number): Promise<void> {
    const today = Math.floor(now / DAY);
    for (const row of await selectLimits(this.#db, today)) {
      const use = { day: today, dayUsed: row.admitted ?? 0, dayRejected: row.rejected ?? 0 };
      this.#counters.keys.restore(row.api_key_id, { ...stateOf(row), ...use });
    }
    this.#unread = this.#counters.keys.counted();
  }

  /**
   * Takes over a slice of the counts in Redis that a process could not store before it ended, once after the start. Resolves with
   * whether there may be more that can be read now.
   */
  async catchUp(): Promise<boolean> {
    const slice = this.#unread.slice(0, SWEPT_AT_ONCE);
    const states = await this.statesOf(slice);
    // Without Redis these are only the counts of this process: a later call reads them again.
    if (this.#counters.status() === 'fallback') return false;
    this.#unread.splice(0, slice.length);
    for (const [keyId, state] of states) this.#counters.keys.catchUp(keyId, state);
    return this.#unread.length > 0;
  }

  /**
   * Decides a request of a key, and counts it as `cost` requests; a cost of 0 checks only whether there is room for one.
   * Returns a promise only when the counters do.
   */
  decide(key: LimitedKey, now: number, cost = 1): Decision | Promise<Decision> {
    const decision = this.#counters.decideKey(key.keyId, key.terms, now, cost);
    if (decision instanceof Promise) return decision.then(decided => this.#reportBan(key, decided));
    return this.#reportBan(key, decision);
  }

  /** Resolves with the states of keys by ID, shared with other replicas; keys without a state are missing. */
  statesOf(keys: readonly CountedKey[]): Promise<Map<number, Readonly<LimitState>>> {
    return this.#counters.statesOfKeys(keys);
  }

  async stateOf(key: CountedKey): Promise<Readonly<LimitState> | undefined> {
    return (await this.#counters.statesOfKeys([key])).get(key.keyId);
  }

  /** Returns the state of a key as this process last saw it, for callers that cannot wait. */
  seenStateOf(keyId: number, resets?: number): Readonly<LimitState> | undefined {
    return this.#counters.keys.find(keyId, resets);
  }

  /** Resolves with the use of a key's limits, and its requests on each stored day. */
  async usageOf(key: CountedKey, limits: Limits, now: number): Promise<Pick<KeyUsage, 'windows' | 'days'>> {
    const today = Math.floor(now / DAY);
    const state = (await this.stateOf(key)) ?? newState(now, key.resets);
    const windows = windowsAt(state, limits, now);
    const firstDay = today - USAGE_DAYS + 1;
    // A flush takes counts that are not stored until it ends.
    while (this.#flushing !== undefined) await this.#flushing.catch(() => {});
    const counted = [...this.#counters.keys.daysOf(key.keyId), dayUseOf(key.keyId, state)];
    const stored = await selectUsage(this.#db, key.keyId, firstDay);
    const isKnown = ({ day }: { day: number }) => day >= firstDay && day <= lastDay(now);
    return {
      windows: { minute: usedWindow(windows.minute), day: usedWindow(windows.day) },
      days: daysOf(stored.filter(isKnown), counted.filter(isKnown)),
    };
  }

  /**
   * Stores what was counted since the last flush, in transactions of a few hundred keys. When a transaction fails, the next
   * flush stores its counts.
   */
  async flush(): Promise<void> {
    // The caller of an earlier flush handles its failure; this flush stores the same counts.
    while (this.#flushing !== undefined) await this.#flushing.catch(() => {});
    this.#flushing = this.#storeChanges();
    try {
      await this.#flushing;
    } finally {
      this.#flushing = undefined;
    }
  }

  /**
   * Deletes a slice of the windows, bans and usage that no longer matter, in memory and in the store. Resolves with whether
   * there may be more.
   */
  async sweep(now: number): Promise<boolean> {
    const today = Math.floor(now / DAY);
    const { strikesWithin, decay } = this.#banRules;
    const isMoreInMemory = this.#counters.keys.sweep(this.#banRules, now);
    const old = await deleteUsageBefore(this.#db, today - USAGE_DAYS + 1, SWEPT_AT_ONCE);
    const future = await deleteUsageAfter(this.#db, lastDay(now), SWEPT_AT_ONCE);
    const isMoreStored = await this.#sweepLimits({
      // Just after midnight, the last minutes of the day before can still lead to a warning or a ban.
      minute: Math.floor(Math.min(today * DAY, now - OF_MINUTES * MINUTE, now - strikesWithin) / MINUTE),
      bannedUntil: now - decay,
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

  /** Stores only as many changes as existed at the start, because keys in constant use change again while it runs. */
  async #storeChanges(): Promise<void> {
    await this.uses.flush(this.#db);
    for (let left = this.#counters.keys.changeCount(); left > 0; left -= FLUSHED_AT_ONCE) {
      const changes = this.#counters.keys.takeChanges(FLUSHED_AT_ONCE);
      try {
        await this.#db.write(tx => storeChanges(tx, changes));
      } catch (error) {
        this.#counters.keys.returnChanges(changes);
        throw error;
      }
    }
  }

  /** Calls `onBan` when a ban begins with this decision. */
  #reportBan({ keyId, terms }: LimitedKey, decision: Decision): Decision {
    const state = decision.banBegins ? this.seenStateOf(keyId, terms.resets) : undefined;
    const ban = state && banOf(state, terms.bansLiftedAt, state.bannedAt);
    if (ban) this.#onBan(keyId, ban);
    return decision;
  }
}

/** Returns the ban of a key in this state, for responses; null when there is none. */
export function banOf(
  state: Readonly<LimitState> | undefined,
  bansLiftedAt: number,
  now: number,
): Ban | null {
  const ban = state && banAt(state, bansLiftedAt, now);
  return ban ? { since: formatDateTime(ban.since), until: formatDateTime(ban.until) } : null;
}

/**
 * Returns the minute in which a key was last used, from its state and the store; 0 when it was never used. Ignores instants
 * from a clock that ran ahead.
 */
export function lastUsedAt(
  state: Readonly<LimitState> | undefined,
  stored: number | null,
  now: number,
): number {
  const known = [minuteOf(state?.seenAt ?? 0), stored ?? 0];
  return Math.max(0, ...known.filter(instant => instant <= latestCredible(now)));
}

/** Returns the latest day that can have begun on any clock, in days since the Unix epoch. */
function lastDay(now: number): number {
  return Math.floor(latestCredible(now) / DAY);
}

/** Merges stored and counted use by day, the latest first. */
function daysOf(stored: readonly UsageRow[], counted: readonly DayUse[]): DayUsage[] {
  const days = new Map(stored.map(row => [row.day, row]));
  for (const use of counted) days.set(use.day, mergeUse(days.get(use.day), use));
  return [...days.values()]
    .sort((a, b) => b.day - a.day)
    .map(({ day, admitted, rejected, earlier_admitted, earlier_rejected }) => ({
      date: formatDate(day * DAY),
      admitted: earlier_admitted + admitted,
      refused: earlier_rejected + rejected,
    }))
    .filter(day => day.admitted + day.refused > 0)
    .slice(0, USAGE_DAYS);
}

function usedWindow({ end, ...use }: Window): UsedWindow {
  return { ...use, resetAt: formatDateTime(end) };
}
