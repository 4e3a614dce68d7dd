import type { BanRules, Decision, LimitState, Terms } from './decide.ts';
import type { VisitDecision, VisitTerms } from './decide-visit.ts';

/** A key, and how often its limits were reset: requests before the last reset do not count. */
export interface CountedKey {
  keyId: number;
  resets: number;
}

/** The requests of a key on a day, since its last reset. */
export interface DayUse extends CountedKey {
  /** Days since the Unix epoch. */
  day: number;
  admitted: number;
  rejected: number;
}

/** Returns the use of a key in this state on the day of its last request. */
export function dayUseOf(
  keyId: number,
  { resets, day, dayUsed: admitted, dayRejected: rejected }: Readonly<LimitState>,
): DayUse {
  return { keyId, resets, day, admitted, rejected };
}

/** Counts that were not stored yet. */
export interface Changes {
  states: { keyId: number; state: Readonly<LimitState> }[];
  endedDays: DayUse[];
}

/**
 * Where requests are counted: only in this process by configuration, shared with other replicas, or only in this process
 * because Redis is unavailable.
 */
type CountersStatus = 'own' | 'shared' | 'fallback';

/**
 * The limits of keys and addresses. Results from Redis are promises, which never reject, because every request gets a
 * decision. Instants are in milliseconds since the Unix epoch.
 */
export interface Counters {
  /** Decides a request of a key and counts it, as `cost` requests; `decide` explains a cost of 0. The default is 1. */
  decideKey(keyId: number, terms: Terms, now: number, cost?: number): Decision | Promise<Decision>;
  /** Decides a request of an address with a publishable key, and counts it for both. */
  decideVisit(
    keyId: number,
    address: string,
    terms: VisitTerms,
    now: number,
  ): VisitDecision | Promise<VisitDecision>;
  /** Returns the numbers for the headers of such a request as this process last saw them, without counting a request. */
  peekVisit(keyId: number, address: string, terms: VisitTerms, now: number): VisitDecision;
  /** Decides a request of an address and counts it. */
  decideAddress(address: string, terms: Terms, now: number): Decision | Promise<Decision>;
  /** Returns the numbers for the headers of an address, without counting a request. */
  peekAddress(address: string, terms: Terms, now: number): Decision | Promise<Decision>;
  /** Decides a request of a key for its own account, and counts it in a separate bucket of the key. */
  decideAccount(keyId: number, terms: Terms, now: number): Decision | Promise<Decision>;
  /** Returns the numbers of that bucket for the headers, without counting a request. */
  peekAccount(keyId: number, terms: Terms, now: number): Decision | Promise<Decision>;
  /** Returns states by key ID, without keys that were not seen since their last reset. */
  statesOfKeys(keys: readonly CountedKey[]): Promise<Map<number, Readonly<LimitState>>>;
  /** Returns the state of a key as this process last saw it after this number of resets; the default is 0. */
  stateOfKey(keyId: number, resets?: number): Readonly<LimitState> | undefined;
  /** Returns the days of a key that this process has not stored yet, and the day of the last request that it saw. */
  daysOf(keyId: number): DayUse[];
  /** Sets the state of a key to a stored one. */
  restore(keyId: number, state: LimitState): void;
  /** Returns the number of changed keys and ended days that were not taken yet. */
  changeCount(): number;
  /** Takes the changes of at most `most` keys, the earliest first, and at most `most` ended days. */
  takeChanges(most: number): Changes;
  /** Returns changes that could not be stored: the next call of `takeChanges` includes them. */
  returnChanges(changes: Changes): void;
  /** Removes keys whose state no longer matters, in one slice. Returns whether there are more keys to check. */
  sweep(rules: BanRules, now: number): boolean;
  status(): CountersStatus;
  /** Resolves when the first connection to Redis has succeeded or failed. Must be called before the first request. */
  open(): Promise<void>;
  /** Closes the connections without waiting for Redis. */
  close(): Promise<void>;
}
