import { DAY } from '../kit/clock.ts';
import { AddressTable } from './address-table.ts';
import { type Changes, type CountedKey, type Counters, type DayUse, dayUseOf } from './counters.ts';
import {
  type BanRules,
  type Decision,
  decide,
  isSpent,
  type LimitState,
  newState,
  peek,
  type Terms,
} from './decide.ts';

/** The most addresses that are counted one by one: some 20 MB when all are in use. */
const MAX_ADDRESSES = 65_536;

/** The state of a key, and where it is. */
interface Sweepable {
  states: Map<number, LimitState>;
  keyId: number;
  state: LimitState;
}

/** Keys that a sweep looks at in one slice: about a millisecond. */
const SWEPT_AT_ONCE = 2_000;

/** The limits of keys and addresses, in this process's memory. Instants are in milliseconds since the Unix epoch. */
export class MemoryCounters implements Counters {
  readonly addresses: AddressTable;
  readonly #keys = new Map<number, LimitState>();
  /** What keys have used of their buckets for `GET /account`; not kept over a restart, like that of addresses. */
  readonly #accounts = new Map<number, LimitState>();
  readonly #changed = new Set<number>();
  readonly #endedDays: DayUse[] = [];
  /** What the sweep under way has yet to look at. */
  #unswept: Generator<Sweepable, undefined> | undefined;

  constructor(maxAddresses = MAX_ADDRESSES) {
    this.addresses = new AddressTable(maxAddresses);
  }

  /** Decides a request of a key and counts it. */
  decideKey(keyId: number, terms: Terms, now: number): Decision {
    const state = this.stateToDecide(keyId, terms.resets);
    this.#noteChange(keyId, state, Math.floor(now / DAY));
    return decide(state, terms, now);
  }

  /** Takes over the state in which a request left a key that was decided elsewhere, unless the key was reset meanwhile. */
  adopt(keyId: number, decided: LimitState): void {
    const state = this.stateToDecide(keyId, decided.resets);
    if (state.resets > decided.resets) return;
    this.#noteChange(keyId, state, decided.day);
    Object.assign(state, decided);
  }

  /**
   * The state of a key to go on from; of one not seen since its limits were reset that of the beginning of time, which every
   * clock is past. A caller that has not learnt of the last reset yet is given what was counted since then.
   */
  stateToDecide(keyId: number, resets = 0): LimitState {
    const known = this.#keys.get(keyId);
    if (known && known.resets >= resets) return known;
    // What was not stored yet of the day so far is stored as use, though it no longer counts.
    if (known && this.#changed.delete(keyId)) this.#endedDays.push(dayUseOf(keyId, known));
    const state = newState(0, resets);
    this.#keys.set(keyId, state);
    return state;
  }

  /** Decides a request of an address and counts it. */
  decideAddress(address: string, terms: Terms, now: number): Decision {
    return this.addresses.decide(address, terms, now);
  }

  /** What the headers of an address say, with nothing counted. */
  peekAddress(address: string, terms: Terms, now: number): Decision {
    return this.addresses.peek(address, terms, now);
  }

  /** Decides a request of a key for its own account and counts it. */
  decideAccount(keyId: number, terms: Terms, now: number): Decision {
    return decide(this.accountToDecide(keyId), terms, now);
  }

  /** What the headers of that bucket say, with nothing counted. */
  peekAccount(keyId: number, terms: Terms, now: number): Decision {
    return peek(this.stateOfAccount(keyId) ?? newState(now), terms, now);
  }

  /** The state of a key's bucket for `GET /account`, to go on from. */
  accountToDecide(keyId: number): LimitState {
    let state = this.#accounts.get(keyId);
    if (state === undefined) {
      state = newState(0);
      this.#accounts.set(keyId, state);
    }
    return state;
  }

  stateOfAccount(keyId: number): Readonly<LimitState> | undefined {
    return this.#accounts.get(keyId);
  }

  stateOfKey(keyId: number, resets = 0): Readonly<LimitState> | undefined {
    const state = this.#keys.get(keyId);
    return state && state.resets >= resets ? state : undefined;
  }

  async statesOfKeys(keys: readonly CountedKey[]): Promise<Map<number, Readonly<LimitState>>> {
    const states = new Map<number, Readonly<LimitState>>();
    for (const { keyId, resets } of keys) {
      const state = this.stateOfKey(keyId, resets);
      if (state) states.set(keyId, state);
    }
    return states;
  }

  /** The days of a key as far as they were not kept yet, and the one that it was last used on. */
  daysOf(keyId: number): DayUse[] {
    const state = this.#keys.get(keyId);
    const ended = this.#endedDays.filter(day => day.keyId === keyId);
    return state ? [...ended, dayUseOf(keyId, state)] : ended;
  }

  /** All keys of which something is known. */
  countedKeys(): CountedKey[] {
    return Array.from(this.#keys, ([keyId, { resets }]) => ({ keyId, resets }));
  }

  /** Goes on from what was kept. */
  restore(keyId: number, state: LimitState): void {
    this.#keys.set(keyId, state);
  }

  changeCount(): number {
    return this.#changed.size + this.#endedDays.length;
  }

  takeChanges(most = Number.POSITIVE_INFINITY): Changes {
    const states: Changes['states'] = [];
    for (const keyId of this.#changed) {
      if (states.length >= most) break;
      states.push({ keyId, state: { ...this.#keys.get(keyId)! } });
      this.#changed.delete(keyId);
    }
    return { states, endedDays: this.#endedDays.splice(0, most) };
  }

  /** Takes changes back that could not be kept: they come again with the next. */
  returnChanges({ states, endedDays }: Changes): void {
    for (const { keyId, state } of states) {
      const current = this.#keys.get(keyId);
      if (!current) this.#keys.set(keyId, state);
      else if (current.day > state.day || current.resets > state.resets)
        this.#endedDays.push(dayUseOf(keyId, state));
      this.#changed.add(keyId);
    }
    this.#endedDays.push(...endedDays);
  }

  sweep(rules: BanRules, now: number): boolean {
    this.#unswept ??= this.#sweepable();
    for (let looked = 0; looked < SWEPT_AT_ONCE; looked++) {
      const next = this.#unswept.next();
      if (next.done) {
        this.#unswept = undefined;
        return false;
      }
      const { states, keyId, state } = next.value;
      const isStored = states !== this.#keys || !this.#changed.has(keyId);
      if (isStored && isSpent(state, rules, now)) states.delete(keyId);
    }
    return true;
  }

  /** The states of all keys, and of their buckets for `GET /account`. */
  *#sweepable(): Generator<Sweepable, undefined> {
    for (const states of [this.#keys, this.#accounts]) {
      for (const [keyId, state] of states) yield { states, keyId, state };
    }
  }

  status(): 'own' {
    return 'own';
  }

  async open(): Promise<void> {}

  async close(): Promise<void> {}

  /** What was not kept yet of a day that has ended is kept as such. */
  #noteChange(keyId: number, state: LimitState, day: number): void {
    if (day > state.day && this.#changed.has(keyId)) this.#endedDays.push(dayUseOf(keyId, state));
    this.#changed.add(keyId);
  }
}
