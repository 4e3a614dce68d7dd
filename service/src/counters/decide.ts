import { latestCredible, SECOND } from '../kit/clock.ts';
import {
  bindingWindow,
  dayLeft,
  endOf,
  enterWindows,
  forgetFutureWindows,
  hasRoom,
  minuteLeft,
  noteFullMinute,
  secondsUntil,
  type WindowLimits,
  type WindowName,
  type WindowUse,
} from './windows.ts';

/** The rules for banning callers that do not wait. Times are in milliseconds. */
export interface BanRules {
  /** How long after the first rejection further requests are not strikes: they may have been in flight. */
  forgiveness: number;
  /** The number of strikes within `strikesWithin` that leads to a ban. */
  strikes: number;
  strikesWithin: number;
  /** The durations of the first ban, the second, and so on, each at least a second; the last one is also for all later bans. */
  durations: readonly number[];
  /** The time without a ban after which the next one is the first again. */
  decay: number;
}

/** The state of a subject in the counters. Instants are in milliseconds since the Unix epoch; 0 means never. */
export interface LimitState extends WindowUse {
  /** When the first rejection since the last admitted request started a wait. */
  rejectedAt: number;
  /** The end of the wait in that rejection. */
  waitUntil: number;
  /** The times of rejected requests that should not have been sent, the latest last. */
  strikes: readonly number[];
  bannedAt: number;
  bannedUntil: number;
  /** The number of bans so far, each less than the rules' decay after the one before. */
  bans: number;
  /** When the last request was decided. */
  seenAt: number;
  /** The `limits_resets` of the key when this state began; 0 for other subjects. */
  resets: number;
}

/** The terms of a decision: the limits, and what an administrator has reset or lifted. */
export interface Terms {
  limits: WindowLimits;
  /** The `limits_resets` of the key: a state with a smaller number does not count. The default is 0. */
  resets?: number;
  /** Bans that began up to this instant are lifted and do not make later ones longer; 0 when none was lifted. */
  bansLiftedAt: number;
  /** The rules of bans; `undefined` for subjects that are not banned. */
  banRules: BanRules | undefined;
}

export type Verdict = 'admitted' | 'refused' | 'banned';

/** The outcome of a decision. */
export interface Outcome {
  readonly verdict: Verdict;
  /** Whether the ban began with this request. */
  readonly banBegins: boolean;
}

export interface Decision extends Outcome {
  /** The window that binds: the one with the fewest requests remaining, or the exhausted one that ends last. */
  window: WindowName;
  limit: number;
  /** Requests remaining in that window; 0 during a ban. */
  remaining: number;
  /** When that window ends, and the ban if there is one, in whole Unix seconds: always after now. */
  reset: number;
  /** Whole seconds from now until `reset`, at least 1: a rejected caller that waits that long has room for its request. */
  wait: number;
  /** Whose window binds; only for the request of a visitor, which counts against several subjects. */
  boundBy?: 'key' | 'visitor' | 'network';
  /** Whether the request of a visitor also counts against its network. */
  hasNetwork?: boolean;
}

const NO_STRIKES: readonly number[] = [];

// Shared by all requests, to avoid garbage.
export const ADMITTED: Outcome = { verdict: 'admitted', banBegins: false };
export const REJECTED: Outcome = { verdict: 'refused', banBegins: false };
const BANNED: Outcome = { verdict: 'banned', banBegins: false };
const BAN_BEGINS: Outcome = { verdict: 'banned', banBegins: true };

/** Returns the state of a subject that was not seen since the reset with this number. */
export function newState(now: number, resets = 0): LimitState {
  const state: LimitState = {
    minute: 0,
    minuteUsed: 0,
    fullMinutes: 0,
    busyMinute: 0,
    busyLimit: 0,
    day: 0,
    dayUsed: 0,
    dayRejected: 0,
    rejectedAt: 0,
    waitUntil: 0,
    strikes: NO_STRIKES,
    bannedAt: 0,
    bannedUntil: 0,
    bans: 0,
    seenAt: 0,
    resets,
  };
  enterWindows(state, now);
  return state;
}

/**
 * The rule of limits and bans: decides a request at `now` from `state` and `terms` only, and updates `state`. A request is
 * admitted when both windows have room, and then counts in both; a rejected request counts in neither. A caller that does
 * not wait after a rejection collects strikes, and enough of them lead to a ban.
 *
 * `cost` is the number of requests that it counts as: both windows must have room for all of them. A cost of 0 is a check
 * before the cost is known: it is admitted when there is room for one request, and then counts nothing.
 */
export function decide(state: LimitState, terms: Terms, now: number, cost = 1): Decision {
  return describe(state, terms, now, advance(state, terms, now, cost), cost);
}

/** The part of the rule that changes the state. `decide.lua` repeats it for states in Redis: change both together. */
function advance(state: LimitState, terms: Terms, now: number, cost: number): Outcome {
  enter(state, terms, now);
  if (now < state.bannedUntil) {
    state.dayRejected++;
    return BANNED;
  }
  if (hasRoom(state, terms.limits, Math.max(cost, 1))) {
    if (cost > 0) count(state, terms.limits, cost);
    return ADMITTED;
  }
  state.dayRejected++;
  const banBegins = terms.banRules !== undefined && strike(state, terms, terms.banRules, now);
  return banBegins ? BAN_BEGINS : REJECTED;
}

/** Starts the windows at `now`, and removes what does not matter any more: lifted bans, and times of a clock that ran ahead. */
export function enter(state: LimitState, terms: Terms, now: number): void {
  forgetFuture(state, now);
  enterWindows(state, now);
  state.seenAt = now;
  if (state.bannedAt !== 0 && isLifted(state.bannedAt, terms.bansLiftedAt, now)) forgetBans(state);
}

/** Counts an admitted request as `cost` requests. */
export function count(state: LimitState, { perMinute }: WindowLimits, cost = 1): void {
  state.minuteUsed += cost;
  if (state.minuteUsed >= perMinute) noteFullMinute(state, perMinute);
  state.dayUsed += cost;
  state.rejectedAt = 0;
}

/** Returns the decision of a request that counts as `cost` requests, and after which its subject is in `state`. */
export function describe(state: LimitState, terms: Terms, now: number, outcome: Outcome, cost = 1): Decision {
  if (outcome.verdict === 'banned') return describeBan(state, terms, now, outcome.banBegins, cost);
  // An admitted request is counted already, and its headers describe what remains for the next one.
  return describeWindow(state, terms, now, outcome.verdict, outcome.verdict === 'admitted' ? 1 : cost);
}

/** Returns the numbers for a subject's headers at `now`, without deciding a request. */
export function peek(state: LimitState, terms: Terms, now: number): Decision {
  const entered = { ...state };
  enter(entered, terms, now);
  return describe(entered, terms, now, now < entered.bannedUntil ? BANNED : ADMITTED);
}

/** Returns the ban in force at `now`, with its start and its end; `undefined` when there is none. */
export function banAt(
  { bannedAt, bannedUntil }: LimitState,
  bansLiftedAt: number,
  now: number,
): { since: number; until: number } | undefined {
  const isInForce = bannedAt <= latestCredible(now) && now < bannedUntil;
  if (!isInForce || isLifted(bannedAt, bansLiftedAt, now)) return undefined;
  return { since: bannedAt, until: bannedUntil };
}

/** Whether the subject has used up a window at `now`, and so must wait. */
export function isUsedUp(state: LimitState, { limits }: Terms, now: number): boolean {
  const entered = { ...state };
  enterWindows(entered, now);
  return !hasRoom(entered, limits);
}

/** Whether `state` cannot affect a decision or a warning at `now` or later. */
export function isSpent(state: LimitState, rules: BanRules, now: number): boolean {
  const entered = { ...state };
  enterWindows(entered, now);
  forgetFuture(entered, now);
  const strikesCount = entered.strikes.some(at => at > now - rules.strikesWithin);
  const bansCount = entered.bans > 0 && now < entered.bannedUntil + rules.decay;
  const windowsCount = entered.dayUsed > 0 || entered.dayRejected > 0 || entered.fullMinutes > 0;
  return !windowsCount && !strikesCount && !bansCount;
}

/** Records a rejected request. Returns whether it was one strike too many, so that a ban began. */
function strike(state: LimitState, { limits }: Terms, rules: BanRules, now: number): boolean {
  // Too many requests at once. Smaller ones may be admitted, so no wait starts here, and no admitted request ends it.
  if (hasRoom(state, limits)) {
    const last = state.strikes.at(-1);
    if (last !== undefined && now < last + rules.forgiveness) return false;
  } else {
    const end = endOf(bindingWindow(state, limits), state);
    // The subject does not know the end of this wait yet, so its next requests may already be in flight.
    if (state.rejectedAt === 0 || now >= state.waitUntil || end > state.waitUntil) {
      state.rejectedAt = now;
      state.waitUntil = end;
    }
    if (now < state.rejectedAt + rules.forgiveness) return false;
  }
  const recent = state.strikes.filter(at => at > now - rules.strikesWithin);
  recent.push(now);
  state.strikes = recent;
  if (recent.length < rules.strikes) return false;
  beginBan(state, rules, now);
  return true;
}

function beginBan(state: LimitState, rules: BanRules, now: number): void {
  if (now >= state.bannedUntil + rules.decay) state.bans = 0;
  const duration = rules.durations[Math.min(state.bans, rules.durations.length - 1)]!;
  state.bans++;
  state.bannedAt = now;
  // Rounded down to whole seconds, the unit of the headers: `Retry-After` never exceeds the duration.
  state.bannedUntil = Math.floor((now + duration) / SECOND) * SECOND;
  state.strikes = NO_STRIKES;
}

/** Removes what a clock that ran ahead has recorded: it would otherwise count for as long as the clock was ahead. */
export function forgetFuture(state: LimitState, now: number): void {
  const latest = latestCredible(now);
  forgetFutureWindows(state, latest);
  if (state.seenAt > latest) state.seenAt = 0;
  if (state.bannedAt > latest) forgetBans(state);
  if (state.rejectedAt > latest) state.rejectedAt = 0;
  // Before the function is created, which would be garbage of each request.
  if (state.strikes.length === 0) return;
  if (state.strikes.some(at => at > latest)) state.strikes = state.strikes.filter(at => at <= latest);
}

/** Whether a ban was lifted. A lift by a clock that ran ahead is ignored: it would lift all bans for as long as it was ahead. */
function isLifted(bannedAt: number, bansLiftedAt: number, now: number): boolean {
  return bansLiftedAt >= bannedAt && bansLiftedAt <= latestCredible(now);
}

/** The next ban is the first again, and is preceded by a new first rejection. */
function forgetBans(state: LimitState): void {
  state.rejectedAt = 0;
  state.bannedAt = 0;
  state.bannedUntil = 0;
  state.bans = 0;
  state.strikes = NO_STRIKES;
}

function describeWindow(
  state: LimitState,
  { limits }: Terms,
  now: number,
  verdict: Verdict,
  cost: number,
): Decision {
  const window = bindingWindow(state, limits, cost);
  const end = endOf(window, state);
  const isMinute = window === 'minute';
  return {
    verdict,
    banBegins: false,
    window,
    limit: isMinute ? limits.perMinute : limits.perDay,
    remaining: isMinute ? minuteLeft(state, limits) : dayLeft(state, limits),
    reset: end / SECOND,
    wait: secondsUntil(end, now),
  };
}

/** During a ban no requests remain, and the wait lasts until the end of the ban, or of a used-up window that ends later. */
function describeBan(
  state: LimitState,
  terms: Terms,
  now: number,
  banBegins: boolean,
  cost: number,
): Decision {
  const needed = Math.max(cost, 1);
  const window = bindingWindow(state, terms.limits, needed);
  const windowEnd = hasRoom(state, terms.limits, needed) ? 0 : endOf(window, state);
  const end = Math.max(state.bannedUntil, windowEnd);
  return {
    verdict: 'banned',
    banBegins,
    window,
    limit: window === 'minute' ? terms.limits.perMinute : terms.limits.perDay,
    remaining: 0,
    reset: end / SECOND,
    wait: secondsUntil(end, now),
  };
}
