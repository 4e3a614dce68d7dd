import { networkOfSubject } from '../kit/client-address.ts';
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
import {
  decideVisit,
  networkTermsOf,
  peekVisit,
  type VisitDecision,
  type VisitTerms,
} from './decide-visit.ts';

/** The maximum number of addresses that are counted individually: about 20 MB when all are in use. */
const MAX_ADDRESSES = 65_536;

/** The maximum number of networks that are counted individually: about 5 MB. */
const MAX_NETWORKS = 16_384;

/** The count of a visitor or of its network, for changing. */
export interface VisitorCount {
  /** The end of its name, such as `visitor:192.0.2.1`. */
  name: string;
  state: LimitState;
  terms: Terms;
  /** Whether it may be removed soon. */
  isRemovable: boolean;
}

/** The state of a key, and the map that contains it. */
interface Sweepable {
  states: Map<number, LimitState>;
  keyId: number;
  state: LimitState;
}

/** Keys that a sweep checks in one slice: about a millisecond. */
const SLICE = 2_000;

/** The name of a visitor or network of a publishable key in its table. A reset of the key also resets its visitors. */
function visitorName(keyId: number, resets: number, address: string): string {
  return `${keyId}:${resets}:${address}`;
}

/** The limits of keys and addresses, in this process's memory. Instants are in milliseconds since the Unix epoch. */
export class MemoryCounters implements Counters {
  readonly addresses: AddressTable;
  /** The visitors of all publishable keys. Their number is limited like that of addresses, and they are also lost at a restart. */
  readonly visitors: AddressTable;
  /** The IPv6 networks of visitors. */
  readonly networks: AddressTable;
  readonly #keys = new Map<number, LimitState>();
  /** The states of the buckets for `GET /account`; like those of addresses they are lost at a restart. */
  readonly #accounts = new Map<number, LimitState>();
  readonly #changed = new Set<number>();
  readonly #endedDays: DayUse[] = [];
  /** The states that the current sweep has not checked yet. */
  #unswept: Generator<Sweepable, undefined> | undefined;

  constructor(maxAddresses = MAX_ADDRESSES) {
    this.addresses = new AddressTable(maxAddresses);
    this.visitors = new AddressTable(maxAddresses);
    this.networks = new AddressTable(Math.min(maxAddresses, MAX_NETWORKS));
  }

  decideKey(keyId: number, terms: Terms, now: number, cost = 1): Decision {
    const state = this.stateToDecide(keyId, terms.resets);
    this.#noteChange(keyId, state, Math.floor(now / DAY));
    return decide(state, terms, now, cost);
  }

  decideVisit(keyId: number, address: string, terms: VisitTerms, now: number): VisitDecision {
    const key = this.stateToDecide(keyId, terms.key.resets);
    this.#noteChange(keyId, key, Math.floor(now / DAY));
    const [visitor, network] = this.visitorCounts(keyId, key.resets, address, terms, now);
    return decideVisit([key, visitor.state, network?.state], terms, now);
  }

  peekVisit(keyId: number, address: string, terms: VisitTerms, now: number): VisitDecision {
    const key = this.stateOfKey(keyId, terms.key.resets) ?? newState(now, terms.key.resets);
    const stateIn = (table: AddressTable, subject: string) =>
      table.knownStateOf(visitorName(keyId, key.resets, subject)) ?? newState(now);
    const network = networkOfSubject(address);
    const ofNetwork = network === undefined ? undefined : stateIn(this.networks, network);
    return peekVisit([key, stateIn(this.visitors, address), ofNetwork], terms, now);
  }

  /** Returns the counts of a visitor of a publishable key, and of its network if it has one. */
  visitorCounts(
    keyId: number,
    resets: number,
    address: string,
    { visitor }: VisitTerms,
    now: number,
  ): readonly [visitor: VisitorCount, ...network: VisitorCount[]] {
    const countIn = (table: AddressTable, kind: string, subject: string, terms: Terms): VisitorCount => {
      const state = table.stateOf(visitorName(keyId, resets, subject), terms, now);
      const name = `${kind}:${table.isShared(state) ? 'others' : subject}`;
      return { name, state, terms, isRemovable: table.isRemovable(state, terms) };
    };
    const ofVisitor = countIn(this.visitors, 'visitor', address, visitor);
    const network = networkOfSubject(address);
    if (network === undefined) return [ofVisitor];
    return [ofVisitor, countIn(this.networks, 'network', network, networkTermsOf(visitor))];
  }

  /** Takes over the state of a key after a request that Redis decided, unless the key was reset in the meantime. */
  adopt(keyId: number, decided: LimitState): void {
    const state = this.stateToDecide(keyId, decided.resets);
    if (state.resets > decided.resets) return;
    this.#noteChange(keyId, state, decided.day);
    Object.assign(state, decided);
  }

  /**
   * Returns the state of a key, for changing. A key that was not seen since its last reset gets a new state at the Unix epoch,
   * before the time of every clock. When the caller does not know of the last reset yet, it gets the state after that reset.
   */
  stateToDecide(keyId: number, resets = 0): LimitState {
    const known = this.#keys.get(keyId);
    if (known && known.resets >= resets) return known;
    // The use of this day before the reset no longer counts, but is still stored as usage.
    if (known && this.#changed.delete(keyId)) this.#endedDays.push(dayUseOf(keyId, known));
    const state = newState(0, resets);
    this.#keys.set(keyId, state);
    return state;
  }

  /** Decides a request of an address and counts it. */
  decideAddress(address: string, terms: Terms, now: number): Decision {
    return this.addresses.decide(address, terms, now);
  }

  /** Returns the numbers for the headers of an address, without counting a request. */
  peekAddress(address: string, terms: Terms, now: number): Decision {
    return this.addresses.peek(address, terms, now);
  }

  /** Decides a request of a key for its own account and counts it. */
  decideAccount(keyId: number, terms: Terms, now: number): Decision {
    return decide(this.accountToDecide(keyId), terms, now);
  }

  /** Returns the numbers of that bucket for the headers, without counting a request. */
  peekAccount(keyId: number, terms: Terms, now: number): Decision {
    return peek(this.stateOfAccount(keyId) ?? newState(now), terms, now);
  }

  /** Returns the state of a key's bucket for `GET /account`, for changing. */
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

  /** Returns the days of a key that were not stored yet, and the day of its last request. */
  daysOf(keyId: number): DayUse[] {
    const state = this.#keys.get(keyId);
    const ended = this.#endedDays.filter(day => day.keyId === keyId);
    return state ? [...ended, dayUseOf(keyId, state)] : ended;
  }

  /** Returns all keys with a state. */
  countedKeys(): CountedKey[] {
    return Array.from(this.#keys, ([keyId, { resets }]) => ({ keyId, resets }));
  }

  /** Sets the state of a key to a stored one. */
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

  /** Returns changes that could not be stored: the next call of `takeChanges` includes them. */
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
    for (let checked = 0; checked < SLICE; checked++) {
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

  /** Iterates over the states of all keys, and of their buckets for `GET /account`. */
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

  /** Marks the key as changed, and saves the counts of a day that has ended before they were stored. */
  #noteChange(keyId: number, state: LimitState, day: number): void {
    if (day > state.day && this.#changed.has(keyId)) this.#endedDays.push(dayUseOf(keyId, state));
    this.#changed.add(keyId);
  }
}
