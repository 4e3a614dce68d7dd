import { DAY } from '../kit/clock.ts';
import { type Decision, decide, isUsedUp, type LimitState, newState, peek, type Terms } from './decide.ts';

/** The maximum number of protected addresses that are skipped to make room for a new one. */
const MAX_SKIPPED = 8;

/** The share of its daily limit above which an address is a heavy user. */
const HEAVY_USE = 0.1;

/**
 * The use of addresses in bounded memory: a single client can have millions of addresses. When the table is full, a new
 * address replaces the next one that is not protected. An address that used up its limits is protected until its window
 * ends, and a heavy user until the day ends, so that a flood of other addresses cannot free them. When only protected
 * addresses are found, new addresses share one count.
 */
export class AddressTable {
  readonly #capacity: number;
  readonly #states = new Map<string, LimitState>();
  readonly #shared = newState(0);
  /** Whether the last new address found no room, and uses the shared count. */
  #crowded = false;
  /** Iterates over the table repeatedly, in the order in which addresses were added. */
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

  /** Returns the state in which an address would be counted, if it exists. */
  knownStateOf(address: string): LimitState | undefined {
    return this.#states.get(address) ?? (this.#crowded ? this.#shared : undefined);
  }

  /** Whether this is the count that new addresses share while there is no room for them. */
  isShared(state: LimitState): boolean {
    return state === this.#shared;
  }

  /** Whether an address may be removed soon, because the table is full and the address is no heavy user. */
  isRemovable(state: LimitState, terms: Terms): boolean {
    return this.#states.size >= this.#capacity && state !== this.#shared && !isHeavyUser(state, terms);
  }

  /** Returns the state that counts an address, for changing: its own, for which room is made, or the shared one. */
  stateOf(address: string, terms: Terms, now: number): LimitState {
    const known = this.#states.get(address);
    if (known) return known;
    this.#crowded = this.#states.size >= this.#capacity && !this.#makeRoom(terms, now);
    if (this.#crowded) return this.#shared;
    // The decision enters the windows, by the clock that it uses.
    const state = newState(0);
    this.#states.set(address, state);
    return state;
  }

  #makeRoom(terms: Terms, now: number): boolean {
    for (let skipped = 0; skipped < MAX_SKIPPED; skipped++) {
      const [address, state] = this.#next();
      if (isProtected(state, terms, now)) continue;
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

function isProtected(state: LimitState, terms: Terms, now: number): boolean {
  const isToday = state.day === Math.floor(now / DAY);
  return (isToday && isHeavyUser(state, terms)) || isUsedUp(state, terms, now);
}

function isHeavyUser({ dayUsed }: LimitState, { limits }: Terms): boolean {
  return dayUsed >= limits.perDay * HEAVY_USE;
}
