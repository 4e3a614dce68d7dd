import { randomUUID } from 'node:crypto';
import { type Clock, DAY, HOUR, MINUTE, SECOND } from '../kit/clock.ts';
import type { Changes, CountedKey, Counters, DayUse } from './counters.ts';
import {
  type BanRules,
  type Decision,
  describe,
  type LimitState,
  newState,
  peek,
  type Terms,
} from './decide.ts';
import { MemoryCounters } from './memory.ts';
import { packQuestion, type Question, unpackAnswer, unpackState } from './packed-state.ts';
import { RedisLink, type RedisLinkOptions } from './redis-link.ts';

/** How long the state of a key is kept, in milliseconds: to the end of its day whatever the clocks say. Bans add to it. */
const KEY_KEPT = 2 * DAY;

/** By how much a state outlives the window that it is kept for, in milliseconds: clocks may differ. */
const END_MARGIN = HOUR;
const PASSING_MARGIN = 2 * MINUTE;

/** How many keys Redis is told of at once after it was away, or has lost its data. */
const PUBLISHED_AT_ONCE = 500;

/** How often it is looked whether Redis still has its data, in milliseconds. */
const LOOK_INTERVAL = SECOND;

/** What tells one set of data from another: whoever finds none puts a random one there. */
const MARK = 'petstore:limits:{mark}';

/** Of a look, which decides nothing. */
const NO_TERMS: Terms = { limits: { perMinute: 0, perDay: 0 }, bansLiftedAt: 0, banRules: undefined };

export interface SharedCountersOptions extends Pick<RedisLinkOptions, 'urls' | 'onStatus' | 'onCommand'> {
  /** Whose time decides: that of Redis, the same for all replicas, or that of a clock that tests turn. */
  clock: 'redis' | Clock;
  maxAddresses?: number;
}

interface Decided {
  decision: Decision;
  /** In which it left the subject. */
  state: LimitState;
}

/**
 * The limits of keys and addresses, shared by all replicas in Redis, each decided there in one step. What Redis answers is
 * mirrored in memory; while it is away the mirror decides. Redis may lose what it has, or miss what was counted meanwhile:
 * when it is connected again, or has lost its mark, it is told of every key what is in the mirror, and takes what is later
 * of both. With the first request of each subject since then it is told as well.
 */
export class SharedCounters implements Counters {
  readonly #mirror: MemoryCounters;
  readonly #link: RedisLink;
  readonly #clock: 'redis' | Clock;
  /** The states that Redis was told of since it was connected. */
  #seeded = new WeakSet<Readonly<LimitState>>();
  readonly #looking: NodeJS.Timeout;
  #mark: string | undefined;
  #telling: Promise<void> | undefined;
  /** By how much the clock that decides is ahead of the caller's, in milliseconds. */
  #ahead = 0;

  constructor({ urls, onStatus, onCommand, clock, maxAddresses }: SharedCountersOptions) {
    this.#mirror = new MemoryCounters(maxAddresses);
    this.#clock = clock;
    this.#link = new RedisLink({
      urls,
      onStatus,
      onCommand,
      onConnect: () => {
        this.#mark = undefined;
        this.#seeded = new WeakSet();
        void this.#lookForMark();
      },
    });
    this.#looking = setInterval(() => void this.#lookForMark(), LOOK_INTERVAL);
    this.#looking.unref();
  }

  open(): Promise<void> {
    return this.#link.connect();
  }

  async close(): Promise<void> {
    clearInterval(this.#looking);
    this.#link.close();
  }

  status(): 'shared' | 'fallback' {
    return this.#link.isUp ? 'shared' : 'fallback';
  }

  async decideKey(keyId: number, terms: Terms, now: number): Promise<Decision> {
    const known = this.#mirror.stateToDecide(keyId, terms.resets);
    const decided = await this.#decide(redisKeyOf(keyId, known.resets), known, terms, KEY_KEPT, now);
    if (!decided) return this.#mirror.decideKey(keyId, terms, now + this.#ahead);
    this.#mirror.adopt(keyId, decided.state);
    return decided.decision;
  }

  async decideAddress(address: string, terms: Terms, now: number): Promise<Decision> {
    const { addresses } = this.#mirror;
    const known = addresses.stateOf(address, terms, now + this.#ahead);
    const kept = addresses.isPassing(known, terms)
      ? MINUTE - (now % MINUTE) + PASSING_MARGIN
      : DAY - (now % DAY) + END_MARGIN;
    const decided = await this.#decide(this.#addressKey(address, known), known, terms, kept, now);
    if (!decided) return addresses.decide(address, terms, now + this.#ahead);
    Object.assign(known, decided.state);
    return decided.decision;
  }

  async peekAddress(address: string, terms: Terms, now: number): Promise<Decision> {
    const known = this.#mirror.addresses.knownStateOf(address);
    const packed = await this.#link.get(this.#addressKey(address, known));
    const state = packed ? unpackState(packed) : (known ?? newState(0));
    return peek(state, terms, now + this.#ahead);
  }

  async decideAccount(keyId: number, terms: Terms, now: number): Promise<Decision> {
    const known = this.#mirror.accountToDecide(keyId);
    const kept = DAY - (now % DAY) + END_MARGIN;
    const decided = await this.#decide(redisKey('account', keyId), known, terms, kept, now);
    if (!decided) return this.#mirror.decideAccount(keyId, terms, now + this.#ahead);
    Object.assign(known, decided.state);
    return decided.decision;
  }

  async peekAccount(keyId: number, terms: Terms, now: number): Promise<Decision> {
    const packed = await this.#link.get(redisKey('account', keyId));
    const state = packed ? unpackState(packed) : this.#mirror.stateOfAccount(keyId);
    return peek(state ?? newState(0), terms, now + this.#ahead);
  }

  async statesOfKeys(keys: readonly CountedKey[]): Promise<Map<number, Readonly<LimitState>>> {
    const found = await Promise.all(keys.map(key => this.#look(key)));
    const states = new Map<number, Readonly<LimitState>>();
    for (const [i, { keyId }] of keys.entries()) {
      const state = found[i];
      if (state) states.set(keyId, state);
    }
    return states;
  }

  stateOfKey(keyId: number, resets?: number): Readonly<LimitState> | undefined {
    return this.#mirror.stateOfKey(keyId, resets);
  }

  daysOf(keyId: number): DayUse[] {
    return this.#mirror.daysOf(keyId);
  }

  restore(keyId: number, state: LimitState): void {
    this.#mirror.restore(keyId, state);
  }

  changeCount(): number {
    return this.#mirror.changeCount();
  }

  takeChanges(most: number): Changes {
    return this.#mirror.takeChanges(most);
  }

  returnChanges(changes: Changes): void {
    this.#mirror.returnChanges(changes);
  }

  sweep(rules: BanRules, now: number): boolean {
    return this.#mirror.sweep(rules, now);
  }

  /** Has a request decided by Redis; answers `undefined` when it is away. */
  async #decide(
    key: string,
    known: LimitState,
    terms: Terms,
    kept: number,
    now: number,
  ): Promise<Decided | undefined> {
    if (!this.#link.isUp) return undefined;
    const seed = this.#seeded.has(known) ? undefined : known;
    this.#seeded.add(known);
    const question: Question = {
      what: 'count',
      now: this.#clock === 'redis' ? undefined : now,
      kept,
      terms,
      seed,
    };
    let packed = await this.#link.decide(key, packQuestion(question));
    // Redis has lost the state, and did not count.
    if (packed === '') packed = await this.#link.decide(key, packQuestion({ ...question, seed: known }));
    const answer = packed === undefined ? undefined : unpackAnswer(packed, known.resets);
    if (!answer) return undefined;
    const { decidedAt, state } = answer;
    this.#ahead = decidedAt - now;
    return { decision: describe(state, terms, decidedAt, answer), state };
  }

  /** The state of a key in Redis, which is told what is known here first if it was not yet. */
  async #look({ keyId, resets }: CountedKey): Promise<Readonly<LimitState> | undefined> {
    const known = this.#mirror.stateOfKey(keyId, resets);
    const latest = known?.resets ?? resets;
    const key = redisKeyOf(keyId, latest);
    if (!known || this.#seeded.has(known)) {
      const packed = await this.#link.get(key);
      return packed ? unpackState(packed, latest) : known;
    }
    if (this.#link.isUp) this.#seeded.add(known);
    const now = this.#clock === 'redis' ? undefined : this.#clock.now();
    const question = packQuestion({ what: 'look', now, kept: KEY_KEPT, terms: NO_TERMS, seed: known });
    const answer = await this.#link.decide(key, question);
    return (answer && unpackAnswer(answer, latest)?.state) || known;
  }

  /** Tells Redis all that is known here when it was away, or has other data than before. */
  async #lookForMark(): Promise<void> {
    const mark = await this.#link.mark(MARK, randomUUID());
    if (mark === undefined || mark === this.#mark) return;
    this.#mark = mark;
    this.#seeded = new WeakSet();
    this.#telling ??= this.#publishKeys().finally(() => {
      this.#telling = undefined;
    });
  }

  /** So that what one replica knows holds for all before it is asked by chance. */
  async #publishKeys(): Promise<void> {
    const keys = this.#mirror.countedKeys();
    for (let i = 0; i < keys.length && this.#link.isUp; i += PUBLISHED_AT_ONCE) {
      await this.statesOfKeys(keys.slice(i, i + PUBLISHED_AT_ONCE));
    }
  }

  #addressKey(address: string, known: LimitState | undefined): string {
    const isShared = known !== undefined && this.#mirror.addresses.isShared(known);
    return redisKey('address', isShared ? 'others' : address);
  }
}

/** A key begins anew with each reset: what replicas bring in that have not learnt of it yet is kept under the name before. */
function redisKeyOf(keyId: number, resets: number): string {
  const name = redisKey('key', keyId);
  return resets === 0 ? name : `${name}:${resets}`;
}

/** What is in braces decides on the node of a cluster. */
function redisKey(kind: 'key' | 'account' | 'address', name: number | string): string {
  return `petstore:limits:{${kind}:${name}}`;
}
