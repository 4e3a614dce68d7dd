import type { FastifyRequest } from 'fastify';
import type { KeyRing, LimitedCaller } from '../../access/api-keys/key-ring.ts';
import type { KeyLimits } from '../../access/rate-limits/key-limits.ts';
import type { Counters } from '../../counters/counters.ts';
import { type Decision, newState, peek, type Verdict } from '../../counters/decide.ts';
import type { VisitTerms } from '../../counters/decide-visit.ts';
import { addressSubject } from '../../kit/client-address.ts';
import type { Clock } from '../../kit/clock.ts';
import type { HeaderPairs } from '../send.ts';
import { presentedKey } from './credentials.ts';
import { foreignOrigin } from './foreign-origin.ts';
import { addRateLimitHeaders, type CountedBy, FREE_TERMS } from './rate-limit-errors.ts';

export interface LimitServices {
  keyRing: KeyRing;
  keyLimits: KeyLimits;
  counters: Counters;
  clock: Clock;
  /** Receives each decision, and whose limits it counted against. */
  onDecision?: ((verdict: Verdict, countedBy: CountedBy) => void) | undefined;
}

/** Whose limits a request counts against, the decision of these limits, and the rate-limit headers of requests that are not counted. */
export class RequestLimits {
  readonly #services: LimitServices;

  constructor(services: LimitServices) {
    this.#services = services;
  }

  /** Counts a request, as `cost` requests, and decides whether the limits admit it. */
  decide(
    request: FastifyRequest,
    countedBy: CountedBy,
    caller: LimitedCaller | undefined,
    cost: 0 | 1,
  ): Decision | Promise<Decision> {
    const { receivedAt } = request;
    const { keyLimits, counters } = this.#services;
    if (!caller || countedBy === 'origin' || countedBy === 'network')
      return this.#decideAddress(request.address, receivedAt);
    if (countedBy === 'account')
      return counters.decideBucket('account', String(caller.keyId), FREE_TERMS, receivedAt);
    if (keyLimits.uses.isFirst(caller.keyId, receivedAt))
      keyLimits.uses.add(caller.keyId, receivedAt, request.address, request.headers['user-agent']);
    if (countedBy === 'key') return keyLimits.decide(caller, receivedAt, cost);
    const visitor = addressSubject(request.address);
    return counters.decideVisit(caller.keyId, visitor, visitTermsOf(caller), receivedAt);
  }

  /**
   * Adds rate-limit headers to the response of a request that may still be in the gate, because a decision or a key does not
   * arrive. Counts nothing.
   */
  async completeHead(request: FastifyRequest): Promise<void> {
    // A copy: the gate may still add its own headers.
    const head = [...(request.head ?? [])];
    // The client chose the second text, which is its request ID.
    if (!head.includes('x-ratelimit-limit', 2)) await this.addLastKnown(request, head);
    request.head = head;
  }

  /** Adds the rate-limit headers of a key that is in memory, otherwise those of the caller's address. It counts nothing. */
  async addLastKnown(request: FastifyRequest, head: HeaderPairs): Promise<void> {
    const key = request.operation?.scope === null ? undefined : presentedKey(request.headers);
    const known = key === undefined ? undefined : this.#services.keyRing.lastKnown(key);
    if (known) await this.#addKeyHeaders(key, known, request, head);
    else await this.addOfAddress(request, head);
  }

  /** Adds the last known rate-limit headers of a key, and counts nothing. */
  async #addKeyHeaders(
    key: string | undefined,
    caller: LimitedCaller,
    request: FastifyRequest,
    head: HeaderPairs,
  ): Promise<void> {
    const { keyId, terms } = caller;
    const { receivedAt } = request;
    const { counters } = this.#services;
    const countedBy = this.countedByOf(request, key, caller);
    if (countedBy === 'origin' || countedBy === 'network') return this.addOfAddress(request, head);
    if (countedBy === 'account') {
      const decision = await counters.peekBucket('account', String(keyId), FREE_TERMS, receivedAt);
      addRateLimitHeaders(head, decision, FREE_TERMS.limits);
      return;
    }
    if (countedBy === 'visit') {
      const visitor = addressSubject(request.address);
      const decision = counters.peekVisit(keyId, visitor, visitTermsOf(caller), receivedAt);
      addRateLimitHeaders(head, decision, terms.limits);
      return;
    }
    const state = this.#services.keyLimits.seenStateOf(keyId, terms.resets) ?? newState(receivedAt);
    addRateLimitHeaders(head, peek(state, terms, receivedAt), terms.limits);
  }

  /** Adds the rate-limit headers of the caller's address, and counts nothing. */
  addOfAddress(request: FastifyRequest, head: HeaderPairs): Promise<void> | undefined {
    const { counters } = this.#services;
    const address = addressSubject(request.address);
    const decision = counters.peekBucket('address', address, FREE_TERMS, request.receivedAt);
    const add = (decided: Decision) => addRateLimitHeaders(head, decided, FREE_TERMS.limits);
    if (decision instanceof Promise) return decision.then(add);
    add(decision);
    return undefined;
  }

  /**
   * A request counts against its key if that is valid, and otherwise against its address. From an address that the key does not allow
   * it counts only against the address. With a publishable key it counts against its visitor as well, or, from a page of another
   * origin, only against its address.
   */
  countedByOf(
    request: FastifyRequest,
    key: string | undefined,
    caller: LimitedCaller | undefined,
  ): CountedBy {
    // A key that has ended is not distinguished from others in a network that it does not allow.
    const networks = caller ? caller.networks : key && this.#services.keyRing.networksOf(key);
    if (networks && !networks.includes(request.address)) return 'network';
    if (!caller) return 'address';
    const { operation, headers } = request;
    if (caller.origins === null) return operation?.countedBy ?? 'key';
    return foreignOrigin(headers, caller.origins) === undefined ? 'visit' : 'origin';
  }

  #decideAddress(address: string, now: number): Decision | Promise<Decision> {
    return this.#services.counters.decideBucket('address', addressSubject(address), FREE_TERMS, now);
  }

  /** Counts a request that cannot be parsed against its address. Returns the rate-limit headers of its response. */
  headersForUnreadable(address: string): HeaderPairs | Promise<HeaderPairs> {
    const decision = this.#decideAddress(address, this.#services.clock.now());
    const headersOf = (decided: Decision) => {
      this.#services.onDecision?.(decided.verdict, 'address');
      const head: HeaderPairs = [];
      addRateLimitHeaders(head, decided, FREE_TERMS.limits);
      return head;
    };
    return decision instanceof Promise ? decision.then(headersOf) : headersOf(decision);
  }
}

function visitTermsOf({ terms }: LimitedCaller): VisitTerms {
  return { key: terms, visitor: FREE_TERMS };
}
