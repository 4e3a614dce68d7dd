import type { BanRules, Decision, LimitState, Terms } from './decide.ts';

/** A key, and how often its limits were reset: what was counted before the last time does not count. */
export interface CountedKey {
  keyId: number;
  resets: number;
}

/** What a key did on a day, since its limits were reset so often. */
export interface DayUse extends CountedKey {
  /** Days since the Unix epoch. */
  day: number;
  admitted: number;
  refused: number;
}

/** What a key in this state did on the day of its last request. */
export function dayUseOf(
  keyId: number,
  { resets, day, dayUsed: admitted, dayRejected: refused }: Readonly<LimitState>,
): DayUse {
  return { keyId, resets, day, admitted, refused };
}

/** What was counted since it was last taken to be kept. */
export interface Changes {
  states: { keyId: number; state: Readonly<LimitState> }[];
  endedDays: DayUse[];
}

/**
 * Where counts are: in this process alone by configuration, shared with other replicas, or in this process alone because
 * what is shared cannot be reached.
 */
type CountersStatus = 'own' | 'shared' | 'fallback';

/**
 * The limits of keys and addresses. What has to be asked for elsewhere is a promise; none rejects, because a decision there
 * always is. Instants are in milliseconds since the Unix epoch.
 */
export interface Counters {
  /** Decides a request of a key and counts it. */
  decideKey(keyId: number, terms: Terms, now: number): Decision | Promise<Decision>;
  /** Decides a request of an address and counts it. */
  decideAddress(address: string, terms: Terms, now: number): Decision | Promise<Decision>;
  /** What the headers of an address say, with nothing counted. */
  peekAddress(address: string, terms: Terms, now: number): Decision | Promise<Decision>;
  /** Decides a request of a key for its own account, and counts it in the bucket that the key has for these alone. */
  decideAccount(keyId: number, terms: Terms, now: number): Decision | Promise<Decision>;
  /** What the headers of that bucket say, with nothing counted. */
  peekAccount(keyId: number, terms: Terms, now: number): Decision | Promise<Decision>;
  /** The states, by ID, of those of the keys of which something is known since their last reset. */
  statesOfKeys(keys: readonly CountedKey[]): Promise<Map<number, Readonly<LimitState>>>;
  /** The state of a key as this process last saw it since it was reset so often; 0 when left out. */
  stateOfKey(keyId: number, resets?: number): Readonly<LimitState> | undefined;
  /** The days of a key as far as this process has not kept them yet, and the one that it last saw it used on. */
  daysOf(keyId: number): DayUse[];
  /** Goes on from what was kept. */
  restore(keyId: number, state: LimitState): void;
  /** How many keys have changed since they were last taken, and how many days have ended. */
  changeCount(): number;
  /** Takes the changes of at most `most` keys, those that changed first, and at most so many ended days. */
  takeChanges(most: number): Changes;
  /** Takes changes back that could not be kept: they come again with the next. */
  returnChanges(changes: Changes): void;
  /** Forgets the next keys whose past no longer matters: one slice. Returns whether there are more to look at. */
  sweep(rules: BanRules, now: number): boolean;
  status(): CountersStatus;
  /** Answers once it is known whether what is shared can be reached. To be called before the first request. */
  open(): Promise<void>;
  /** Answers at once, also when others do not. */
  close(): Promise<void>;
}
