import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { AllowedOrigins } from '../../access/api-keys/allowed-origins.ts';
import type { KeyRing, LimitedCaller } from '../../access/api-keys/key-ring.ts';
import { isTestKey } from '../../access/api-keys/secret.ts';
import type { KeyLimits } from '../../access/rate-limits/key-limits.ts';
import type { ApiError } from '../../contract/errors.ts';
import type { Operation } from '../../contract/operation.ts';
import type { Counters } from '../../counters/counters.ts';
import { type Decision, newState, peek, type Verdict } from '../../counters/decide.ts';
import type { VisitTerms } from '../../counters/decide-visit.ts';
import { addressSubject, type TrustedProxies } from '../../kit/client-address.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Tracing } from '../../kit/tracing.ts';
import type { Route } from '../../routes/define-route.ts';
import type { HeaderPairs } from '../send.ts';
import { presentedKey } from './credentials.ts';
import { addCorsHeaders, isReadable } from './cross-origin.ts';
import { addressNotAllowed } from './foreign-address.ts';
import { foreignOrigin, originNotAllowed } from './foreign-origin.ts';
import { invalidKey } from './invalid-key.ts';
import { API_VERSION, rejectOtherMediaType, rejectOtherVersion } from './negotiation.ts';
import { addQuotaWarning } from './quota-warning.ts';
import { addRateLimitHeaders, type CountedBy, FREE_TERMS, rejectionOf } from './rate-limit-errors.ts';
import { missingKey, rejectWithoutScope } from './scope-check.ts';
import { rejectMalformed } from './well-formed.ts';

export interface GateServices {
  keyRing: KeyRing;
  allowedOrigins: Pick<AllowedOrigins, 'has'>;
  keyLimits: KeyLimits;
  counters: Counters;
  clock: Clock;
  trustedProxies: TrustedProxies;
  /** Receives each decision, and whose limits it counted against. */
  onDecision?: ((verdict: Verdict, countedBy: CountedBy) => void) | undefined;
  /** Records the time of the gate as a span; `undefined` while nothing is exported. */
  tracing?: Tracing | undefined;
}

/** The properties of an operation that the gate reads. Without an operation (404, 405) a key is optional. */
export type Gated = Pick<Operation, 'scope' | 'anyOfScopes' | 'countedBy' | 'path'> & {
  success?: { mediaType?: string };
  /** How many requests a request counts as; only its body shows that, so the gate counts it after the body was read. */
  cost?: Route['cost'];
  longestWait?: Route['longestWait'];
  /** Whether this is a page of the portal: pages of other origins cannot read it. */
  isPage?: boolean;
};

declare module 'fastify' {
  interface FastifyRequest {
    /** `undefined` for a path or method that does not exist. */
    operation: Gated | undefined;
    /** Whether the page that sent the request can read the response, because its origin is allowed. */
    isReadable: boolean;
    /** Whether the request writes with a test key: all that it changes is undone. */
    isTest: boolean;
    /** Whether the request has passed the gate, but is not counted yet, because the number depends on its body. */
    isUncounted: boolean;
    /** The checks of the gate, if the request had to wait for them. */
    passing: Promise<void> | undefined;
  }
}

/**
 * The checks of every request before its body is read, in this order: caller, rate limit, well-formed head, key, scope,
 * version, Accept. Every response has the rate-limit headers, even that of a request that a later check rejects.
 *
 * An operation with a `cost` is counted in two steps. The gate rejects a key that has no room for one request, and counts
 * nothing yet; `late-count.ts` counts the request.
 */
export class Gate {
  readonly #services: GateServices;
  readonly #rejectionOn: (socket: Socket) => ApiError | undefined;

  /** `rejectionOn` returns the error for every request of a connection that is over a limit. */
  constructor(services: GateServices, rejectionOn: (socket: Socket) => ApiError | undefined) {
    this.#services = services;
    this.#rejectionOn = rejectionOn;
  }

  /** Throws, or returns a rejected promise, when the request is rejected. Returns a promise only if it has to wait. */
  pass(request: FastifyRequest, operation: Gated | undefined): Promise<void> | undefined {
    const { tracing } = this.#services;
    request.operation = operation;
    const rejection = this.#rejectionOn(request.raw.socket);
    if (rejection) request.passing = this.#rejectUncounted(request, rejection);
    else if (!tracing || !request.span?.isRecorded) request.passing = this.#pass(request);
    else request.passing = tracing.record(request.span, 'gate', () => this.#pass(request));
    return request.passing;
  }

  /** The checks of a request that needs no key and uses no quota: it counts nothing. */
  passUncounted(request: FastifyRequest): Promise<void> {
    request.passing = this.#passUncounted(request);
    return request.passing;
  }

  async #passUncounted(request: FastifyRequest): Promise<void> {
    const rejection = this.#rejectionOn(request.raw.socket);
    if (rejection) return this.#rejectUncounted(request, rejection);
    const head = this.#begin(request);
    await this.#addCorsHeaders(request, head);
    await this.#addAddressHeaders(request, head);
    rejectUnservable(request);
  }

  /** Rejects a request, counts nothing, and reads no key: it may be one of many. */
  async #rejectUncounted(request: FastifyRequest, rejection: ApiError): Promise<never> {
    const head = this.#begin(request);
    if (!request.operation?.isPage) await this.#addCorsHeaders(request, head);
    await this.#addLastKnownHeaders(request, head);
    throw rejection;
  }

  /** Starts the headers of the response. */
  #begin(request: FastifyRequest): HeaderPairs {
    request.receivedAt = this.#services.clock.now();
    const head = request.head ?? [];
    request.head = head;
    // biome-ignore format: a header per line
    head.push(
      'x-request-id', request.id,
      'api-version', API_VERSION,
      'x-content-type-options', 'nosniff',
    );
    // Also without an origin, because caches may store that response.
    if (!request.operation?.isPage) head.push('vary', 'origin');
    request.isTest = isTestWrite(request);
    if (request.isTest) head.push('x-test', 'true');
    return head;
  }

  #pass(request: FastifyRequest): Promise<void> | undefined {
    const head = this.#begin(request);
    const { operation, headers } = request;
    if (headers.origin === undefined || operation?.isPage) return this.#identify(request, head);
    return this.#addCorsHeaders(request, head).then(() => this.#identify(request, head));
  }

  async #addCorsHeaders(request: FastifyRequest, head: HeaderPairs): Promise<void> {
    const { headers, receivedAt } = request;
    request.isReadable = await isReadable(this.#services.allowedOrigins, headers, receivedAt);
    if (request.isReadable) addCorsHeaders(head, headers);
  }

  #identify(request: FastifyRequest, head: HeaderPairs): Promise<void> | undefined {
    const { operation } = request;
    if (operation?.scope === null) {
      if (operation.countedBy === 'address') return this.#admit(request, head, undefined, undefined);
      const adding = this.#addAddressHeaders(request, head);
      return adding ? adding.then(() => rejectUnservable(request)) : rejectUnservable(request);
    }
    const key = presentedKey(request.headers);
    const caller = key === undefined ? undefined : this.#services.keyRing.find(key, request.receivedAt);
    if (!(caller instanceof Promise)) return this.#admit(request, head, key, caller);
    return this.#admitOnceRead(request, head, key, caller);
  }

  async #admitOnceRead(
    request: FastifyRequest,
    head: HeaderPairs,
    key: string | undefined,
    reading: Promise<LimitedCaller | undefined>,
  ): Promise<void> {
    let caller: LimitedCaller | undefined;
    try {
      caller = await reading;
    } catch (failure) {
      await this.#addLastKnownHeaders(request, head);
      throw failure;
    }
    await this.#admit(request, head, key, caller);
  }

  #admit(
    request: FastifyRequest,
    head: HeaderPairs,
    key: string | undefined,
    caller: LimitedCaller | undefined,
  ): Promise<void> | undefined {
    request.caller = caller;
    const countedBy = this.#countedByOf(request, key, caller);
    const isCountedLater = countedBy === 'key' && request.operation?.cost !== undefined;
    const decision = this.#decide(request, countedBy, caller, isCountedLater ? 0 : 1);
    const badKey = caller ? undefined : key;
    const admit = (decided: Decision) => {
      const isAdmitted = decided.verdict === 'admitted';
      if (isAdmitted && isCountedLater) {
        request.isUncounted = true;
      } else {
        this.#services.onDecision?.(decided.verdict, countedBy);
        const isOfKey = countedBy === 'key' || countedBy === 'visit';
        const { limits } = caller && isOfKey ? caller.terms : FREE_TERMS;
        addRateLimitHeaders(head, decided, limits);
        if (caller && countedBy === 'key')
          addQuotaWarning(head, this.#services.keyLimits, caller, request.receivedAt);
      }
      if (!isAdmitted) throw rejectionOf(decided, countedBy, caller?.kind);
      rejectMalformed(request.raw);
      if (countedBy === 'network') throw addressNotAllowed(this.#addressOf(request));
      if (badKey !== undefined)
        throw invalidKey(badKey, this.#services.keyRing.endOf(badKey, request.receivedAt));
      if (countedBy === 'origin') throw originNotAllowed(request.headers);
      rejectUnfit(request);
      return undefined;
    };
    return decision instanceof Promise ? decision.then(admit) : admit(decision);
  }

  #decide(
    request: FastifyRequest,
    countedBy: CountedBy,
    caller: LimitedCaller | undefined,
    cost: 0 | 1,
  ): Decision | Promise<Decision> {
    const { receivedAt } = request;
    const { keyLimits, counters } = this.#services;
    if (!caller || countedBy === 'origin' || countedBy === 'network')
      return this.#decideAddress(this.#addressOf(request), receivedAt);
    if (countedBy === 'account')
      return counters.decideBucket('account', String(caller.keyId), FREE_TERMS, receivedAt);
    if (keyLimits.uses.isFirst(caller.keyId, receivedAt))
      keyLimits.uses.add(caller.keyId, receivedAt, this.#addressOf(request), request.headers['user-agent']);
    if (countedBy === 'key') return keyLimits.decide(caller, receivedAt, cost);
    const visitor = addressSubject(this.#addressOf(request));
    return counters.decideVisit(caller.keyId, visitor, visitTermsOf(caller), receivedAt);
  }

  /**
   * Adds rate-limit headers to the response of a request that may still be in the gate, because a decision or a key does not
   * arrive. Counts nothing.
   */
  async completeHead(request: FastifyRequest): Promise<void> {
    // A copy: the gate may still add its own headers.
    const head = [...(request.head ?? [])];
    if (!head.includes('x-ratelimit-limit')) await this.#addLastKnownHeaders(request, head);
    request.head = head;
  }

  /** Adds the rate-limit headers of a key that is in memory, otherwise those of the caller's address. It counts nothing. */
  async #addLastKnownHeaders(request: FastifyRequest, head: HeaderPairs): Promise<void> {
    const key = request.operation?.scope === null ? undefined : presentedKey(request.headers);
    const known = key === undefined ? undefined : this.#services.keyRing.lastKnown(key);
    if (known) await this.#addKeyHeaders(key, known, request, head);
    else await this.#addAddressHeaders(request, head);
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
    const countedBy = this.#countedByOf(request, key, caller);
    if (countedBy === 'origin' || countedBy === 'network') return this.#addAddressHeaders(request, head);
    if (countedBy === 'account') {
      const decision = await counters.peekBucket('account', String(keyId), FREE_TERMS, receivedAt);
      addRateLimitHeaders(head, decision, FREE_TERMS.limits);
      return;
    }
    if (countedBy === 'visit') {
      const visitor = addressSubject(this.#addressOf(request));
      const decision = counters.peekVisit(keyId, visitor, visitTermsOf(caller), receivedAt);
      addRateLimitHeaders(head, decision, terms.limits);
      return;
    }
    const state = this.#services.keyLimits.seenStateOf(keyId, terms.resets) ?? newState(receivedAt);
    addRateLimitHeaders(head, peek(state, terms, receivedAt), terms.limits);
  }

  /** Adds the rate-limit headers of the caller's address, and counts nothing. */
  #addAddressHeaders(request: FastifyRequest, head: HeaderPairs): Promise<void> | undefined {
    const { counters } = this.#services;
    const address = addressSubject(this.#addressOf(request));
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
  #countedByOf(
    request: FastifyRequest,
    key: string | undefined,
    caller: LimitedCaller | undefined,
  ): CountedBy {
    // A key that has ended is not distinguished from others in a network that it does not allow.
    const networks = caller ? caller.networks : key && this.#services.keyRing.networksOf(key);
    if (networks && !networks.includes(this.#addressOf(request))) return 'network';
    if (!caller) return 'address';
    const { operation, headers } = request;
    if (caller.origins === null) return operation?.countedBy ?? 'key';
    return foreignOrigin(headers, caller.origins) === undefined ? 'visit' : 'origin';
  }

  #addressOf(request: FastifyRequest): string {
    const { raw, headers } = request;
    request.address ??= this.#services.trustedProxies.clientAddress(
      raw.socket.remoteAddress ?? '',
      headers['x-forwarded-for'],
    );
    return request.address;
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

/** The text shows the kind of a key: operations that need no key also undo the changes of a request with a test key. */
function isTestWrite({ operation, method, headers }: FastifyRequest): boolean {
  const isRead = operation === undefined || method === 'GET' || method === 'HEAD';
  return !isRead && isTestKey(presentedKey(headers) ?? '');
}

function visitTermsOf({ terms }: LimitedCaller): VisitTerms {
  return { key: terms, visitor: FREE_TERMS };
}

/** The checks of an admitted request, after that of its key. */
function rejectUnfit(request: FastifyRequest): void {
  const { operation, caller } = request;
  if (operation) {
    if (caller) rejectWithoutScope(operation, caller);
    else if (operation.scope !== null) throw missingKey(request);
  }
  rejectOtherVersion(request.headers);
  rejectOtherMediaType(request.headers, operation?.success?.mediaType);
}

/** The checks of a request that needs no key. */
function rejectUnservable(request: FastifyRequest): undefined {
  rejectMalformed(request.raw);
  rejectOtherVersion(request.headers);
}
