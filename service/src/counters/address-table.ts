import { DAY } from '../kit/clock.ts';
import { type Decision, decide, isUsedUp, type LimitState, newState, peek, type Terms } from './decide.ts';

/** How many addresses that must stay are passed over to make room for a new one. */
const MOST_PASSED_OVER = 8;

/** The share of its day from which on an address has used much. */
const MUCH = 0.1;

/**
 * The use of addresses, of which anybody can have millions, in bounded memory. When the table is full a new address takes
 * the place of the oldest that may go: one that used up its limits stays until it may come again, and one that used much
 * of its day stays until the day ends, so that no flood of other addresses frees them. Where only such are found, the new
 * ones share one count.
 */
export class AddressTable {
  readonly #capacity: number;
  readonly #states = new Map<string, LimitState>();
  readonly #shared = newState(0);
  /** Whether the last new address found no place, and shared. */
  #crowded = false;
  /** Goes round the table, in the order in which addresses came. */
  #hand = this.#states.entries();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#states.size;
  }

  decide(address: string, terms: Terms, now: number): Decision {
    return decide(this.stateOf(address, terms, now), terms, now);
  }

  peek(address: string, terms: Terms, now: number): Decision {
    return peek(this.knownStateOf(address) ?? newState(now), terms, now);
  }

  /** What an address would be counted in, if there is anything yet. */
  knownStateOf(address: string): LimitState | undefined {
    return this.#states.get(address) ?? (this.#crowded ? this.#shared : undefined);
  }

  /** Whether this is the count that new addresses share while there is no room for them. */
  isShared(state: LimitState): boolean {
    return state === this.#shared;
  }

  /** Whether an address may be forgotten soon, because there is no room for all and it has used little. */
  isPassing(state: LimitState, terms: Terms): boolean {
    return this.#states.size >= this.#capacity && state !== this.#shared && !hasUsedMuch(state, terms);
  }

  /** What counts an address, to go on from: its own state, for which room is made, or the shared one. */
  stateOf(address: string, terms: Terms, now: number): LimitState {
    const known = this.#states.get(address);
    if (known) return known;
    this.#crowded = this.#states.size >= this.#capacity && !this.#makeRoom(terms, now);
    if (this.#crowded) return this.#shared;
    // It enters its windows when it is decided, by whichever clock that goes by.
    const state = newState(0);
    this.#states.set(address, state);
    return state;
  }

  #makeRoom(terms: Terms, now: number): boolean {
    for (let passedOver = 0; passedOver < MOST_PASSED_OVER; passedOver++) {
      const [address, state] = this.#next();
      if (mustStay(state, terms, now)) continue;
      this.#states.delete(address);
      return true;
    }
    return false;
  }

  #next(): [string, LimitState] {
    let next = this.#hand.next();
    if (next.done) {
      this.#hand = this.#states.entries();
      next = this.#hand.next();
    }
    return next.value!;
  }
}

function mustStay(state: LimitState, terms: Terms, now: number): boolean {
  const isToday = state.day === Math.floor(now / DAY);
  return (isToday && hasUsedMuch(state, terms)) || isUsedUp(state, terms, now);
}

function hasUsedMuch({ dayUsed }: LimitState, { limits }: Terms): boolean {
  return dayUsed >= limits.perDay * MUCH;
}
