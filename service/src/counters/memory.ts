import { DAY } from '../kit/clock.ts';
import { AddressTable } from './address-table.ts';
import {
  type BanRules,
  type Decision,
  decide,
  isSpent,
  type LimitState,
  newState,
  type Terms,
} from './decide.ts';

/** The most addresses that are counted one by one: some 20 MB when all are in use. */
const MAX_ADDRESSES = 65_536;

/** What a key did on a day that has ended. */
export interface DayUse {
  keyId: number;
  /** Days since the Unix epoch. */
  day: number;
  admitted: number;
  refused: number;
}

/** What was counted since it was last taken to be kept. */
export interface Changes {
  states: { keyId: number; state: Readonly<LimitState> }[];
  endedDays: DayUse[];
}

/** The limits of keys and addresses, in this process's memory. Instants are in milliseconds since the Unix epoch. */
export class MemoryCounters {
  readonly #keys = new Map<number, LimitState>();
  readonly #addresses: AddressTable;
  readonly #changed = new Set<number>();
  #endedDays: DayUse[] = [];

  constructor(maxAddresses = MAX_ADDRESSES) {
    this.#addresses = new AddressTable(maxAddresses);
  }

  /** Decides a request of a key and counts it. */
  decideKey(keyId: number, terms: Terms, now: number): Decision {
    let state = this.#keys.get(keyId);
    if (state === undefined) {
      state = newState(now);
      this.#keys.set(keyId, state);
    } else if (Math.floor(now / DAY) > state.day && this.#changed.has(keyId)) {
      this.#endedDays.push(dayUse(keyId, state));
    }
    this.#changed.add(keyId);
    return decide(state, terms, now);
  }

  /** Decides a request of an address and counts it. */
  decideAddress(address: string, terms: Terms, now: number): Decision {
    return this.#addresses.decide(address, terms, now);
  }

  /** What the headers of an address say, with nothing counted. */
  peekAddress(address: string, terms: Terms, now: number): Decision {
    return this.#addresses.peek(address, terms, now);
  }

  stateOfKey(keyId: number): Readonly<LimitState> | undefined {
    return this.#keys.get(keyId);
  }

  /** The days of a key as far as they were not kept yet, and the one that it was last used on. */
  daysOf(keyId: number): DayUse[] {
    const state = this.#keys.get(keyId);
    const ended = this.#endedDays.filter(day => day.keyId === keyId);
    return state ? [...ended, dayUse(keyId, state)] : ended;
  }

  /** Goes on from what was kept. */
  restore(keyId: number, state: LimitState): void {
    this.#keys.set(keyId, state);
  }

  takeChanges(): Changes {
    const states = [...this.#changed].map(keyId => ({ keyId, state: { ...this.#keys.get(keyId)! } }));
    const endedDays = this.#endedDays;
    this.#changed.clear();
    this.#endedDays = [];
    return { states, endedDays };
  }

  /** Takes changes back that could not be kept: they come again with the next. */
  returnChanges({ states, endedDays }: Changes): void {
    for (const { keyId, state } of states) {
      const current = this.#keys.get(keyId);
      if (!current) this.#keys.set(keyId, state);
      else if (current.day > state.day) this.#endedDays.push(dayUse(keyId, state));
      this.#changed.add(keyId);
    }
    this.#endedDays.push(...endedDays);
  }

  /** Forgets keys whose past no longer matters. */
  sweep(rules: BanRules, now: number): void {
    for (const [keyId, state] of this.#keys) {
      if (!this.#changed.has(keyId) && isSpent(state, rules, now)) this.#keys.delete(keyId);
    }
  }
}

function dayUse(keyId: number, { day, dayUsed, dayRefused }: LimitState): DayUse {
  return { keyId, day, admitted: dayUsed, refused: dayRefused };
}
