import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { AllowedOrigins } from '../../access/api-keys/allowed-origins.ts';
import type { LimitedCaller } from '../../access/api-keys/key-ring.ts';
import { isTestKey } from '../../access/api-keys/secret.ts';
import type { ApiError } from '../../contract/errors.ts';
import type { Operation } from '../../contract/operation.ts';
import { API_VERSION } from '../../contract/version.ts';
import type { Decision } from '../../counters/decide.ts';
import type { Span, Tracing } from '../../kit/tracing.ts';
import type { Route } from '../../routes/define-route.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { HeaderPairs } from '../send.ts';
import { presentedKey } from './credentials.ts';
import { addCorsHeaders, isReadable } from './cross-origin.ts';
import { addressNotAllowed } from './foreign-address.ts';
import { originNotAllowed } from './foreign-origin.ts';
import { invalidKey } from './invalid-key.ts';
import { rejectOtherMediaType, rejectOtherVersion } from './negotiation.ts';
import { addQuotaWarning } from './quota-warning.ts';
import { addRateLimitHeaders, type CountedBy, FREE_TERMS, rejectionOf } from './rate-limit-errors.ts';
import type { LimitServices, RequestLimits } from './request-limits.ts';
import { missingKey, rejectWithoutScope } from './scope-check.ts';
import { rejectMalformed } from './well-formed.ts';

export interface GateServices extends LimitServices {
  allowedOrigins: Pick<AllowedOrigins, 'has'>;
  /** Records the time of the gate as a span; `undefined` while nothing is exported. */
  tracing?: Tracing | undefined;
}

/** The properties of an operation that the gate reads. Without an operation (404, 405) a key is optional. */
export type Gated = Pick<Operation, 'scope' | 'anyOfScopes' | 'countedBy' | 'path'> & {
  success?: { mediaType?: string };
  /** How many requests a request counts as; only its body shows that, so the gate counts it after the body was read. */
  cost?: Route['cost'];
  longestWait?: Route['longestWait'];
  /** `undefined` if it is stable and not deprecated. */
  lifecycle?: Lifecycle | undefined;
  /** Whether this is a page and not an operation: pages of other origins cannot read it, and its writes are never undone. */
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
 * version, Accept, sunset date. Every response has the rate-limit headers, even that of a request that a later check rejects.
 *
 * An operation with a `cost` is counted in two steps. The gate rejects a key that has no room for one request, and counts
 * nothing yet; `late-count.ts` counts the request.
 */
export class Gate {
  readonly #services: GateServices;
  readonly #limits: RequestLimits;
  readonly #rejectionOn: (socket: Socket) => ApiError | undefined;

  /** `rejectionOn` returns the error for every request of a connection that is over a limit. */
  constructor(
    services: GateServices,
    limits: RequestLimits,
    rejectionOn: (socket: Socket) => ApiError | undefined,
  ) {
    this.#services = services;
    this.#limits = limits;
    this.#rejectionOn = rejectionOn;
  }

  /** Throws, or returns a rejected promise, when the request is rejected. Returns a promise only if it has to wait. */
  pass(request: FastifyRequest, operation: Gated | undefined): Promise<void> | undefined {
    const { tracing } = this.#services;
    request.operation = operation;
    const rejection = this.#rejectionOn(request.raw.socket);
    if (rejection) request.passing = this.#rejectUncounted(request, rejection);
    else if (!tracing || !request.span?.isRecorded) request.passing = this.#pass(request);
    else request.passing = this.#recordPass(request, tracing, request.span);
    return request.passing;
  }

  // A function of its own: V8 allocates what a closure captures whenever the function with the closure is called.
  #recordPass(request: FastifyRequest, tracing: Tracing, span: Span): Promise<void> | undefined {
    return tracing.record(span, 'gate', () => this.#pass(request));
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
    await this.#limits.addOfAddress(request, head);
    rejectUnservable(request);
  }

  /** Rejects a request, counts nothing, and reads no key: it may be one of many. */
  async #rejectUncounted(request: FastifyRequest, rejection: ApiError): Promise<never> {
    const head = this.#begin(request);
    if (!request.operation?.isPage) await this.#addCorsHeaders(request, head);
    await this.#limits.addLastKnown(request, head);
    throw rejection;
  }

  /** Starts the headers of the response. */
  #begin(request: FastifyRequest): HeaderPairs {
    const { id, operation } = request;
    request.receivedAt = this.#services.clock.now();
    // A list that has eight texts when it is created needs to grow only once for the other headers.
    // biome-ignore format: a header per line
    const head: HeaderPairs = [
      'x-request-id', id,
      'api-version', API_VERSION,
      'x-content-type-options', 'nosniff',
      // Also without an origin, because caches may store that response. Pages are the same for every origin.
      'vary', 'origin',
    ];
    if (operation?.isPage) head.length -= 2;
    request.head = head;
    operation?.lifecycle?.announce(request, head);
    request.isTest = isTestWrite(request);
    if (request.isTest) head.push('x-test', 'true');
    return head;
  }

  #pass(request: FastifyRequest): Promise<void> | undefined {
    const head = this.#begin(request);
    const { operation, headers } = request;
    if (headers.origin === undefined || operation?.isPage) return this.#identify(request, head);
    return this.#identifyOnceReadable(request, head);
  }

  async #identifyOnceReadable(request: FastifyRequest, head: HeaderPairs): Promise<void> {
    await this.#addCorsHeaders(request, head);
    await this.#identify(request, head);
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
      const adding = this.#limits.addOfAddress(request, head);
      return adding === undefined ? rejectUnservable(request) : rejectUnservableAfter(adding, request);
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
      await this.#limits.addLastKnown(request, head);
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
    const countedBy = this.#limits.countedByOf(request, key, caller);
    const isCountedLater = countedBy === 'key' && request.operation?.cost !== undefined;
    const decision = this.#limits.decide(request, countedBy, caller, isCountedLater ? 0 : 1);
    if (!(decision instanceof Promise)) return this.#conclude(request, head, key, countedBy, decision);
    return this.#concludeOnceDecided(request, head, key, countedBy, decision);
  }

  async #concludeOnceDecided(
    request: FastifyRequest,
    head: HeaderPairs,
    key: string | undefined,
    countedBy: CountedBy,
    deciding: Promise<Decision>,
  ): Promise<void> {
    this.#conclude(request, head, key, countedBy, await deciding);
  }

  /** Adds the rate-limit headers, and throws when the decision or a later check rejects the request. */
  #conclude(
    request: FastifyRequest,
    head: HeaderPairs,
    key: string | undefined,
    countedBy: CountedBy,
    decision: Decision,
  ): undefined {
    const { keyLimits, keyRing, onDecision } = this.#services;
    const { operation, receivedAt } = request;
    const caller = request.caller as LimitedCaller | undefined;
    const isAdmitted = decision.verdict === 'admitted';
    if (isAdmitted && countedBy === 'key' && operation?.cost !== undefined) {
      request.isUncounted = true;
    } else {
      onDecision?.(decision.verdict, countedBy);
      const isOfKey = countedBy === 'key' || countedBy === 'visit';
      const { limits } = caller && isOfKey ? caller.terms : FREE_TERMS;
      addRateLimitHeaders(head, decision, limits);
      if (caller && countedBy === 'key') addQuotaWarning(head, keyLimits, caller);
    }
    const isOfAny = operation?.countedBy === 'address';
    if (!isAdmitted) throw rejectionOf(decision, isOfAny ? 'operation' : countedBy, caller?.kind);
    rejectMalformed(request.raw);
    if (countedBy === 'network') throw addressNotAllowed(request.address);
    if (key !== undefined && !caller) throw invalidKey(key, keyRing.endOf(key, receivedAt));
    if (countedBy === 'origin') throw originNotAllowed(request.headers);
    rejectUnfit(request);
  }
}

/** The text shows the kind of a key: operations that need no key also undo the changes of a request with a test key. */
function isTestWrite({ operation, method, headers }: FastifyRequest): boolean {
  const isRead = !operation || operation.isPage || method === 'GET' || method === 'HEAD';
  return !isRead && isTestKey(presentedKey(headers) ?? '');
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
  operation?.lifecycle?.rejectEnded(request);
}

/** The checks of a request that needs no key. */
function rejectUnservable(request: FastifyRequest): undefined {
  rejectMalformed(request.raw);
  rejectOtherVersion(request.headers);
  request.operation?.lifecycle?.rejectEnded(request);
}

async function rejectUnservableAfter(adding: Promise<void>, request: FastifyRequest): Promise<void> {
  await adding;
  rejectUnservable(request);
}
