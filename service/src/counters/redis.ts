import { randomUUID } from 'node:crypto';
import { type Clock, DAY, HOUR, MINUTE, SECOND } from '../kit/clock.ts';
import type { BucketKind, Counters } from './counters.ts';
import { type Decision, describe, type LimitState, newState, peek, type Terms } from './decide.ts';
import { describeVisit, type VisitDecision, type VisitTerms } from './decide-visit.ts';
import type { CountedKey, KeyStates } from './key-states.ts';
import { MemoryCounters } from './memory.ts';
import { type ScriptResult, unpackState } from './packed-state.ts';
import { RedisDecisions } from './redis-decisions.ts';
import { RedisLink, type RedisLinkOptions } from './redis-link.ts';

/** How long Redis stores the state of a key, in milliseconds: beyond the end of its day on every clock. Bans extend it. */
const KEY_TTL = 2 * DAY;

/** How long Redis stores a state after the end of its window, in milliseconds: clocks may differ. */
const DAY_MARGIN = HOUR;
const MINUTE_MARGIN = 2 * MINUTE;

/** How many keys are sent to Redis at once after it was unavailable or has lost its data. */
const PUBLISHED_AT_ONCE = 500;

/** How often to check that Redis still has its data, in milliseconds. */
const CHECK_INTERVAL = SECOND;

/** The key of a random mark that identifies the data in Redis. A replica that finds no mark sets one. */
const MARK = 'petstore:limits:{mark}';

export interface SharedCountersOptions
  extends Pick<RedisLinkOptions, 'urls' | 'prefix' | 'timeout' | 'onStatus' | 'onCommand'> {
  /** The clock of decisions: that of Redis, which all replicas share, or a clock that tests advance. */
  clock: 'redis' | Clock;
  maxAddresses?: number;
}

/**
 * The limits of keys and addresses, shared by all replicas in Redis, which makes each decision atomically. The resulting
 * states are mirrored in memory; while Redis is unavailable, the mirror decides. Redis may lose its data, or lack requests
 * counted by the mirror: after a new connection, or when the mark is missing, this process sends the mirrored state of every
 * key, which Redis merges with its own. It also sends the state with the first request of each subject after that.
 */
export class SharedCounters implements Counters {
  readonly #mirror: MemoryCounters;
  readonly #link: RedisLink;
  readonly #decisions: RedisDecisions;
  readonly #checkTimer: NodeJS.Timeout;
  #mark: string | undefined;
  /** The keys whose states are still to be sent to Redis. */
  #unpublished: CountedKey[] = [];
  #isPublishing = false;

  constructor({ clock, maxAddresses, ...link }: SharedCountersOptions) {
    this.#mirror = new MemoryCounters(maxAddresses);
    this.#link = new RedisLink({
      ...link,
      onConnect: () => {
        this.#mark = undefined;
        this.#decisions.forgetSeeds();
        void this.#checkMark();
      },
    });
    this.#decisions = new RedisDecisions(this.#link, clock);
    this.#checkTimer = setInterval(() => void this.#checkMark(), CHECK_INTERVAL);
    this.#checkTimer.unref();
  }

  open(): Promise<void> {
    return this.#link.connect();
  }

  async close(): Promise<void> {
    clearInterval(this.#checkTimer);
    this.#link.close();
  }

  status(): 'shared' | 'fallback' {
    return this.#link.isUp ? 'shared' : 'fallback';
  }

  get keys(): KeyStates {
    return this.#mirror.keys;
  }

  async decideKey(keyId: number, terms: Terms, now: number, cost = 1): Promise<Decision> {
    const known = this.keys.toDecide(keyId, terms.resets);
    const subject = { key: redisKeyOf(keyId, known.resets), known, terms, ttl: KEY_TTL };
    const [decided] = (await this.#decisions.decide([subject], now, cost)) ?? [];
    if (!decided) return this.#mirror.decideKey(keyId, terms, this.#decisions.timeOf(now), cost);
    this.keys.adopt(keyId, decided.state);
    return decisionOf(decided, terms, cost);
  }

  async decideVisit(keyId: number, address: string, terms: VisitTerms, now: number): Promise<VisitDecision> {
    const knownKey = this.keys.toDecide(keyId, terms.key.resets);
    const at = this.#decisions.timeOf(now);
    const counts = this.#mirror.visitorCounts(keyId, knownKey.resets, address, terms, at);
    const key = redisKeyOf(keyId, knownKey.resets);
    const ofKey = { key, known: knownKey, terms: terms.key, ttl: KEY_TTL };
    const ofCounts = counts.map(({ name, state, terms, isRemovable }) => ({
      key: `${key}:${name}`,
      known: state,
      terms,
      ttl: ttlOf(isRemovable, at),
    }));
    const decided = await this.#decisions.decide([ofKey, ...ofCounts], now);
    if (!decided) return this.#mirror.decideVisit(keyId, address, terms, this.#decisions.timeOf(now));
    const [byKey, ...byCounts] = decided as [ScriptResult, ScriptResult, ScriptResult?];
    this.keys.adopt(keyId, byKey.state);
    for (const [i, { state }] of counts.entries()) Object.assign(state, byCounts[i]!.state);
    const states = [byKey.state, byCounts[0].state, byCounts[1]?.state] as const;
    return describeVisit(states, terms, byKey.decidedAt, byKey);
  }

  peekVisit(keyId: number, address: string, terms: VisitTerms, now: number): VisitDecision {
    return this.#mirror.peekVisit(keyId, address, terms, this.#decisions.timeOf(now));
  }

  async decideBucket(kind: BucketKind, name: string, terms: Terms, now: number): Promise<Decision> {
    const table = this.#mirror.buckets[kind];
    const at = this.#decisions.timeOf(now);
    const known = table.stateOf(name, terms, at);
    const key = redisKey(kind, table.isShared(known) ? 'others' : name);
    const subject = { key, known, terms, ttl: ttlOf(table.isRemovable(known, terms), at) };
    const [decided] = (await this.#decisions.decide([subject], now)) ?? [];
    if (!decided) return table.decide(name, terms, this.#decisions.timeOf(now));
    Object.assign(known, decided.state);
    return decisionOf(decided, terms);
  }

  async peekBucket(kind: BucketKind, name: string, terms: Terms, now: number): Promise<Decision> {
    const table = this.#mirror.buckets[kind];
    const known = table.knownStateOf(name);
    const isShared = known !== undefined && table.isShared(known);
    const packed = await this.#link.get(redisKey(kind, isShared ? 'others' : name));
    const state = packed ? unpackState(packed) : (known ?? newState(0));
    return peek(state, terms, this.#decisions.timeOf(now));
  }

  async statesOfKeys(keys: readonly CountedKey[]): Promise<Map<number, Readonly<LimitState>>> {
    const found = await Promise.all(keys.map(key => this.#stateInRedis(key)));
    const states = new Map<number, Readonly<LimitState>>();
    for (const [i, { keyId }] of keys.entries()) {
      const state = found[i];
      if (state) states.set(keyId, state);
    }
    return states;
  }

  /** Reads the state of a key in Redis, after sending the mirrored state if Redis does not have it yet. */
  async #stateInRedis({ keyId, resets }: CountedKey): Promise<Readonly<LimitState> | undefined> {
    const known = this.keys.find(keyId, resets);
    const latest = known?.resets ?? resets;
    const key = redisKeyOf(keyId, latest);
    if (!known || this.#decisions.isSeeded(known)) {
      const packed = await this.#link.get(key);
      return packed ? unpackState(packed, latest) : known;
    }
    return (await this.#decisions.merge(key, known, KEY_TTL)) ?? known;
  }

  /** Sends all mirrored states to Redis when it was unavailable or its data was replaced, also while they are being sent. */
  async #checkMark(): Promise<void> {
    this.#link.keepOpen();
    const mark = await this.#link.mark(MARK, randomUUID());
    if (mark === undefined || mark === this.#mark) return;
    this.#mark = mark;
    this.#decisions.forgetSeeds();
    this.#unpublished = this.keys.counted();
    if (!this.#isPublishing) await this.#publishKeys();
  }

  /** Makes the states of this replica apply in all replicas before the next request of each key. */
  async #publishKeys(): Promise<void> {
    this.#isPublishing = true;
    try {
      while (this.#unpublished.length > 0 && this.#link.isUp)
        await this.statesOfKeys(this.#unpublished.splice(0, PUBLISHED_AT_ONCE));
    } finally {
      this.#isPublishing = false;
    }
  }
}

function decisionOf(decided: ScriptResult, terms: Terms, cost = 1): Decision {
  return describe(decided.state, terms, decided.decidedAt, decided, cost);
}

/** How long Redis stores a bucket or a visitor, in milliseconds: until its day ends, or in a flood until its minute has ended. */
function ttlOf(isRemovable: boolean, now: number): number {
  return isRemovable ? MINUTE - (now % MINUTE) + MINUTE_MARGIN : DAY - (now % DAY) + DAY_MARGIN;
}

/** Each reset changes the Redis key, so that states of replicas that do not know of the reset yet do not count. */
function redisKeyOf(keyId: number, resets: number): string {
  const name = redisKey('key', keyId);
  return resets === 0 ? name : `${name}:${resets}`;
}

/** The text in braces selects the node of a cluster. */
function redisKey(kind: 'key' | BucketKind, name: number | string): string {
  return `petstore:limits:{${kind}:${name}}`;
}
