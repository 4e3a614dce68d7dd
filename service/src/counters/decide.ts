import { latestCredible, SECOND } from '../kit/clock.ts';
import {
  bindingWindow,
  dayLeft,
  endOf,
  enterWindows,
  forgetFutureWindows,
  hasRoom,
  minuteLeft,
  secondsUntil,
  type WindowLimits,
  type WindowName,
  type WindowUse,
} from './windows.ts';

/** When callers that do not wait are banned. Times are in milliseconds. */
export interface BanRules {
  /** How long after it was told to wait a caller's requests are taken to have been on their way already. */
  forgiveness: number;
  /** So many rejected requests after that … */
  strikes: number;
  /** … within this time are a ban. */
  strikesWithin: number;
  /** How long the first ban lasts, the second, and so on; the last one is for all that follow. */
  durations: readonly number[];
  /** After so long without a ban the next one is the first again. */
  decay: number;
}

/** What the counters know of a subject. Instants are in milliseconds since the Unix epoch; 0 stands for never. */
export interface LimitState extends WindowUse {
  /** When the subject was first rejected since it was last admitted: since then it knows that it must wait. */
  toldAt: number;
  /** Until when it was told to wait. */
  toldUntil: number;
  /** When requests were rejected that should not have been sent, the latest last. */
  strikes: readonly number[];
  bannedAt: number;
  bannedUntil: number;
  /** Bans so far, each less than the rules' decay after the one before. */
  bans: number;
  /** When the last request was decided. */
  seenAt: number;
  /** How often the limits had been reset when this state began. */
  resets: number;
}

/** Under what a request is decided: the limits, and what an administrator has forgiven. */
export interface Terms {
  limits: WindowLimits;
  /** How often the limits of the subject were reset: a state from before the last time does not count. 0 when left out. */
  resets?: number;
  /** Bans that began up to this instant are lifted and forgiven; 0 when none was. */
  bansLiftedAt: number;
  /** The rules of bans; `undefined` for subjects that are not banned. */
  banRules: BanRules | undefined;
}

export type Verdict = 'admitted' | 'refused' | 'banned';

/** What becomes of a request. */
export interface Outcome {
  readonly verdict: Verdict;
  /** Whether this very request brought on the ban. */
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
  /** Whole seconds from now until `reset`, at least 1: a rejected caller that waits them is admitted. */
  wait: number;
}

const NO_STRIKES: readonly number[] = [];

// The same four objects for all requests: a new one for each would be garbage.
const ADMITTED: Outcome = { verdict: 'admitted', banBegins: false };
const REJECTED: Outcome = { verdict: 'refused', banBegins: false };
const BANNED: Outcome = { verdict: 'banned', banBegins: false };
const BAN_BEGINS: Outcome = { verdict: 'banned', banBegins: true };

/** A subject that was not seen since its limits were reset so often. */
export function newState(now: number, resets = 0): LimitState {
  const state: LimitState = {
    minute: 0,
    minuteUsed: 0,
    day: 0,
    dayUsed: 0,
    dayRejected: 0,
    toldAt: 0,
    toldUntil: 0,
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
 * The one rule of limits and bans: decides a request at `now` from `state` and `terms` alone, and leaves the new state in
 * `state`. A request is admitted when both windows have room and then counts in both; a rejected one counts in neither.
 * A caller that was told to wait and goes on actor collects strikes, and enough of them are a ban.
 */
export function decide(state: LimitState, terms: Terms, now: number): Decision {
  return describe(state, terms, now, advance(state, terms, now));
}

/** The part of the rule that changes the state. `decide.lua` has the same for states in Redis: change both. */
function advance(state: LimitState, terms: Terms, now: number): Outcome {
  forgetFuture(state, now);
  enterWindows(state, now);
  state.seenAt = now;
  if (state.bannedAt !== 0 && isLifted(state.bannedAt, terms.bansLiftedAt, now)) forgetBans(state);
  if (now < state.bannedUntil) {
    state.dayRejected++;
    return BANNED;
  }
  if (hasRoom(state, terms.limits)) {
    state.minuteUsed++;
    state.dayUsed++;
    state.toldAt = 0;
    return ADMITTED;
  }
  state.dayRejected++;
  const banBegins = terms.banRules !== undefined && strike(state, terms, terms.banRules, now);
  return banBegins ? BAN_BEGINS : REJECTED;
}

/** What the caller is told of a request that left its subject in `state`. */
export function describe(state: LimitState, terms: Terms, now: number, outcome: Outcome): Decision {
  return outcome.verdict === 'banned'
    ? describeBan(state, terms, now, outcome.banBegins)
    : describeWindow(state, terms, now, outcome.verdict);
}

/** What a subject's headers say at `now` without a request being decided. */
export function peek(state: LimitState, terms: Terms, now: number): Decision {
  const entered = { ...state };
  enterWindows(entered, now);
  return describeWindow(entered, terms, now, 'admitted');
}

/** The ban in force at `now`: when it began and when it ends; `undefined` when there is none. */
export function banAt(
  { bannedAt, bannedUntil }: LimitState,
  bansLiftedAt: number,
  now: number,
): { since: number; until: number } | undefined {
  const isInForce = bannedAt <= latestCredible(now) && now < bannedUntil;
  if (!isInForce || isLifted(bannedAt, bansLiftedAt, now)) return undefined;
  return { since: bannedAt, until: bannedUntil };
}

/** Whether the subject has no room left at `now`, and so must wait. */
export function isUsedUp(state: LimitState, { limits }: Terms, now: number): boolean {
  const entered = { ...state };
  enterWindows(entered, now);
  return !hasRoom(entered, limits);
}

/** Whether nothing in `state` can bear on a decision at `now` or later. */
export function isSpent(state: LimitState, rules: BanRules, now: number): boolean {
  const entered = { ...state };
  enterWindows(entered, now);
  forgetFuture(entered, now);
  const strikesCount = entered.strikes.some(at => at > now - rules.strikesWithin);
  const bansCount = entered.bans > 0 && now < entered.bannedUntil + rules.decay;
  return entered.dayUsed === 0 && entered.dayRejected === 0 && !strikesCount && !bansCount;
}

/** Takes down a rejected request. Answers whether it is one too many: then the ban has begun. */
function strike(state: LimitState, { limits }: Terms, rules: BanRules, now: number): boolean {
  const end = endOf(bindingWindow(state, limits), state);
  // Not told yet, or told of a window that ends sooner: what comes from now on is on its way.
  if (state.toldAt === 0 || now >= state.toldUntil || end > state.toldUntil) {
    state.toldAt = now;
    state.toldUntil = end;
  }
  if (now < state.toldAt + rules.forgiveness) return false;
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
  // To the whole second, because that is how it is told.
  state.bannedUntil = Math.ceil((now + duration) / SECOND) * SECOND;
  state.strikes = NO_STRIKES;
}

/** Forgets what was noted by a clock that ran ahead: otherwise it would count for as long as the clock was ahead. */
export function forgetFuture(state: LimitState, now: number): void {
  const latest = latestCredible(now);
  forgetFutureWindows(state, latest);
  if (state.seenAt > latest) state.seenAt = 0;
  if (state.bannedAt > latest) forgetBans(state);
  if (state.toldAt > latest) state.toldAt = 0;
  if (state.strikes.some(at => at > latest)) state.strikes = state.strikes.filter(at => at <= latest);
}

/** Whether a ban was lifted. Lifts by a clock that ran ahead would lift all bans for as long as it was ahead. */
function isLifted(bannedAt: number, bansLiftedAt: number, now: number): boolean {
  return bansLiftedAt >= bannedAt && bansLiftedAt <= latestCredible(now);
}

/** The next ban is the first again, and before it the subject is told anew. */
function forgetBans(state: LimitState): void {
  state.toldAt = 0;
  state.bannedAt = 0;
  state.bannedUntil = 0;
  state.bans = 0;
  state.strikes = NO_STRIKES;
}

function describeWindow(state: LimitState, { limits }: Terms, now: number, verdict: Verdict): Decision {
  const window = bindingWindow(state, limits);
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

/** During a ban nothing remains, and the wait is the rest of the ban, or of a used-up window that ends still later. */
function describeBan(state: LimitState, terms: Terms, now: number, banBegins: boolean): Decision {
  const window = bindingWindow(state, terms.limits);
  const windowEnd = hasRoom(state, terms.limits) ? 0 : endOf(window, state);
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
