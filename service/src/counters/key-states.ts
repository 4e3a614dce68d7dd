import { type BanRules, isSpent, type LimitState, newState } from './decide.ts';

/** A key, and its `limits_resets`: requests with a smaller number do not count. */
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
  /** When the last of them was decided. */
  seenAt: number;
}

/** Returns the use of a key in this state on the day of its last request. */
export function dayUseOf(
  keyId: number,
  { resets, day, dayUsed: admitted, dayRejected: rejected, seenAt }: Readonly<LimitState>,
): DayUse {
  return { keyId, resets, day, admitted, rejected, seenAt };
}

/** Counts that were not stored yet. */
export interface Changes {
  states: { keyId: number; state: Readonly<LimitState> }[];
  endedDays: DayUse[];
}

/** Keys that a sweep checks in one slice: about a millisecond. */
const SLICE = 2_000;

/** The states of keys as this process last saw them. Instants are in milliseconds since the Unix epoch. */
export class KeyStates {
  readonly #states = new Map<number, LimitState>();
  readonly #changed = new Set<number>();
  readonly #endedDays: DayUse[] = [];
  /** The states that the current sweep has not checked yet. */
  #unswept: MapIterator<[number, LimitState]> | undefined;

  /** Returns the state of a key since the reset with this number. */
  find(keyId: number, resets = 0): Readonly<LimitState> | undefined {
    const state = this.#states.get(keyId);
    return state && state.resets >= resets ? state : undefined;
  }

  /**
   * Returns the state of a key, for changing. A key that was not seen since its last reset gets a new state at the Unix epoch,
   * before the time of every clock. When the caller does not know of the last reset yet, it gets the state after that reset.
   */
  toDecide(keyId: number, resets = 0): LimitState {
    const known = this.#states.get(keyId);
    if (known && known.resets >= resets) return known;
    // The use of this day before the reset no longer counts, but is still stored as usage.
    if (known && this.#changed.delete(keyId)) this.#endedDays.push(dayUseOf(keyId, known));
    const state = newState(0, resets);
    this.#states.set(keyId, state);
    return state;
  }

  /** Takes over the state of a key after a request that Redis decided, unless the key was reset in the meantime. */
  adopt(keyId: number, decided: LimitState): void {
    const state = this.toDecide(keyId, decided.resets);
    if (state.resets > decided.resets) return;
    this.noteChange(keyId, state, decided.day);
    Object.assign(state, decided);
  }

  /** Takes over the state of a key from Redis, if it is newer: another process has counted requests, and may have ended before it stored them. */
  catchUp(keyId: number, shared: Readonly<LimitState>): void {
    const known = this.find(keyId);
    if (known && shared.seenAt > known.seenAt) this.adopt(keyId, { ...shared });
  }

  /** Marks a key as changed on a day, and saves the counts of a day that has ended before they were stored. */
  noteChange(keyId: number, state: LimitState, day: number): void {
    if (day > state.day && this.#changed.has(keyId)) this.#endedDays.push(dayUseOf(keyId, state));
    this.#changed.add(keyId);
  }

  /** Sets the state of a key to a stored one. */
  restore(keyId: number, state: LimitState): void {
    this.#states.set(keyId, state);
  }

  /** Returns all keys with a state. */
  counted(): CountedKey[] {
    return Array.from(this.#states, ([keyId, { resets }]) => ({ keyId, resets }));
  }

  /** Returns the days of a key that were not stored yet, and the day of the last request that this process saw. */
  daysOf(keyId: number): DayUse[] {
    const state = this.#states.get(keyId);
    const ended = this.#endedDays.filter(day => day.keyId === keyId);
    return state ? [...ended, dayUseOf(keyId, state)] : ended;
  }

  /** Returns the number of changed keys and ended days that were not taken yet. */
  changeCount(): number {
    return this.#changed.size + this.#endedDays.length;
  }

  /** Takes the changes of at most `most` keys, the earliest first, and at most `most` ended days. */
  takeChanges(most = Number.POSITIVE_INFINITY): Changes {
    const states: Changes['states'] = [];
    for (const keyId of this.#changed) {
      if (states.length >= most) break;
      states.push({ keyId, state: { ...this.#states.get(keyId)! } });
      this.#changed.delete(keyId);
    }
    return { states, endedDays: this.#endedDays.splice(0, most) };
  }

  /** Returns changes that could not be stored: the next call of `takeChanges` includes them. */
  returnChanges({ states, endedDays }: Changes): void {
    for (const { keyId, state } of states) {
      const current = this.#states.get(keyId);
      if (!current) this.#states.set(keyId, state);
      else if (current.day > state.day || current.resets > state.resets)
        this.#endedDays.push(dayUseOf(keyId, state));
      this.#changed.add(keyId);
    }
    this.#endedDays.push(...endedDays);
  }

  /** Removes keys whose state no longer matters, in one slice. Returns whether there are more keys to check. */
  sweep(rules: BanRules, now: number): boolean {
    this.#unswept ??= this.#states.entries();
    for (let checked = 0; checked < SLICE; checked++) {
      const next = this.#unswept.next();
      if (next.done) {
        this.#unswept = undefined;
        return false;
      }
      const [keyId, state] = next.value;
      if (!this.#changed.has(keyId) && isSpent(state, rules, now)) this.#states.delete(keyId);
    }
    return true;
  }
}
