import type { Decision, LimitState, Terms } from './decide.ts';
import type { VisitDecision, VisitTerms } from './decide-visit.ts';
import type { CountedKey, KeyStates } from './key-states.ts';

/**
 * Where requests are counted: only in this process by configuration, shared with other replicas, or only in this process
 * because Redis is unavailable.
 */
type CountersStatus = 'own' | 'shared' | 'fallback';

/** What a bucket counts: requests of an address without a key, or those of a key for its account. */
export type BucketKind = 'address' | 'account';

/**
 * The limits of keys and addresses. Results from Redis are promises, which never reject, because every request gets a
 * decision. Instants are in milliseconds since the Unix epoch.
 */
export interface Counters {
  /** The states of keys as this process last saw them. */
  readonly keys: KeyStates;
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
  /** Decides a request of an address, or of a key for its account, and counts it. `name` is the address or the ID. */
  decideBucket(kind: BucketKind, name: string, terms: Terms, now: number): Decision | Promise<Decision>;
  /** Returns the numbers of a bucket for the headers, without counting a request. */
  peekBucket(kind: BucketKind, name: string, terms: Terms, now: number): Decision | Promise<Decision>;
  /** Returns states by key ID, without keys that were not seen since their last reset. */
  statesOfKeys(keys: readonly CountedKey[]): Promise<Map<number, Readonly<LimitState>>>;
  status(): CountersStatus;
  /** Resolves when the first connection to Redis has succeeded or failed. Must be called before the first request. */
  open(): Promise<void>;
  /** Closes the connections without waiting for Redis. */
  close(): Promise<void>;
}
