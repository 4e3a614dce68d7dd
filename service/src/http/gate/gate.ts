import type { FastifyRequest } from 'fastify';
import type { KeyRing, LimitedCaller } from '../../access/api-keys/key-ring.ts';
import { planLimits } from '../../access/plans/plan.ts';
import type { KeyLimits } from '../../access/rate-limits/key-limits.ts';
import { ApiError } from '../../contract/errors.ts';
import { type Operation, requiredScopes } from '../../contract/operation.ts';
import type { Counters } from '../../counters/counters.ts';
import { type Decision, newState, peek, type Terms, type Verdict } from '../../counters/decide.ts';
import { addressSubject, type TrustedProxies } from '../../kit/client-address.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Tracing } from '../../kit/tracing.ts';
import type { Caller } from '../../routes/context.ts';
import type { HeaderPairs } from '../send.ts';
import { presentedKey } from './credentials.ts';
import { API_VERSION, rejectOtherForm, rejectOtherVersion } from './negotiation.ts';
import { addRateLimitHeaders, type CountedBy, rejectionOf } from './rate-limit-errors.ts';
import { rejectMalformed } from './well-formed.ts';

export interface GateServices {
  keyRing: KeyRing;
  keyLimits: KeyLimits;
  counters: Counters;
  clock: Clock;
  trustedProxies: TrustedProxies;
  /** Is told of each decision, and whose limits it drew on. */
  onDecision?: ((verdict: Verdict, countedBy: CountedBy) => void) | undefined;
  /** Records how long the gate takes, while spans are exported. */
  tracing?: Tracing | undefined;
}

/** What the gate needs to know of an operation. Where there is none (404, 405) a key is optional. */
export type Gated = Pick<Operation, 'scope' | 'countedBy' | 'path'> & { success?: { mediaType?: string } };

/** What does not draw on the limits of a key is limited as the Free plan is, and not banned. */
const FREE_TERMS: Terms = { limits: planLimits.free, bansLiftedAt: 0, banRules: undefined };

declare module 'fastify' {
  interface FastifyRequest {
    /** What the request asks for; `undefined` for a path or method that does not exist. */
    operation: Gated | undefined;
  }
}

/**
 * What every request passes before its body is read, in this order: who calls, rate limit, form, key, scope, version.
 * From the rate limit on the response carries the rate-limit headers, whatever becomes of the request.
 */
export class Gate {
  readonly #services: GateServices;

  constructor(services: GateServices) {
    this.#services = services;
  }

  /** Throws or rejects when the request is rejected. It answers a promise only when something has to be waited for. */
  pass(request: FastifyRequest, operation: Gated | undefined): Promise<void> | undefined {
    const { tracing } = this.#services;
    request.operation = operation;
    if (!tracing || !request.span?.isRecorded) return this.#pass(request);
    return tracing.record(request.span, 'gate', () => this.#pass(request));
  }

  #pass(request: FastifyRequest): Promise<void> | undefined {
    const { keyRing, clock } = this.#services;
    const { operation } = request;
    const now = clock.now();
    request.receivedAt = now;
    const head = request.head ?? [];
    request.head = head;
    head.push('x-request-id', request.id, 'api-version', API_VERSION, 'x-content-type-options', 'nosniff');

    if (operation?.scope === null) {
      const telling = this.#addAddressHeaders(request, head);
      return telling ? telling.then(() => rejectUnservable(request)) : rejectUnservable(request);
    }
    const key = presentedKey(request.headers);
    const caller = key === undefined ? undefined : keyRing.find(key, now);
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
      // Whose key it is can only be told from memory; else the answer has the headers of the caller's address.
      const known = key === undefined ? undefined : this.#services.keyRing.lastKnown(key);
      if (known) await this.#addKeyHeaders(known, request, head);
      else await this.#addAddressHeaders(request, head);
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
    const countedBy = countedByOf(request.operation, caller);
    const decision = this.#decide(request, countedBy, caller);
    const isBadKey = key !== undefined && !caller;
    const admit = (decided: Decision) => {
      this.#services.onDecision?.(decided.verdict, countedBy);
      const { limits } = caller && countedBy === 'key' ? caller.terms : FREE_TERMS;
      addRateLimitHeaders(head, decided, limits);
      return admitAsDecided(request, countedBy, isBadKey, decided);
    };
    return decision instanceof Promise ? decision.then(admit) : admit(decision);
  }

  #decide(
    request: FastifyRequest,
    countedBy: CountedBy,
    caller: LimitedCaller | undefined,
  ): Decision | Promise<Decision> {
    const { receivedAt } = request;
    const { keyLimits, counters } = this.#services;
    if (!caller) return this.#decideAddress(this.#addressOf(request), receivedAt);
    return countedBy === 'account'
      ? counters.decideAccount(caller.keyId, FREE_TERMS, receivedAt)
      : keyLimits.decide(caller, receivedAt);
  }

  /** Writes the rate-limit headers of a key as far as they are known, with nothing counted. */
  async #addKeyHeaders(
    { keyId, terms }: LimitedCaller,
    { operation, receivedAt }: FastifyRequest,
    head: HeaderPairs,
  ): Promise<void> {
    if (operation?.countedBy === 'account') {
      const told = await this.#services.counters.peekAccount(keyId, FREE_TERMS, receivedAt);
      addRateLimitHeaders(head, told, FREE_TERMS.limits);
      return;
    }
    const state = this.#services.keyLimits.seenStateOf(keyId, terms.resets) ?? newState(receivedAt);
    addRateLimitHeaders(head, peek(state, terms, receivedAt), terms.limits);
  }

  /** Writes the rate-limit headers of the caller's address, with nothing counted. */
  #addAddressHeaders(request: FastifyRequest, head: HeaderPairs): Promise<void> | undefined {
    const { counters } = this.#services;
    const address = addressSubject(this.#addressOf(request));
    const told = counters.peekAddress(address, FREE_TERMS, request.receivedAt);
    const write = (decision: Decision) => addRateLimitHeaders(head, decision, FREE_TERMS.limits);
    if (told instanceof Promise) return told.then(write);
    write(told);
    return undefined;
  }

  #addressOf({ raw: { socket }, headers }: FastifyRequest): string {
    const forwardedFor = headers['x-forwarded-for'];
    return this.#services.trustedProxies.clientAddress(socket.remoteAddress ?? '', forwardedFor);
  }

  #decideAddress(address: string, now: number): Decision | Promise<Decision> {
    return this.#services.counters.decideAddress(addressSubject(address), FREE_TERMS, now);
  }

  /** The headers of a response to a request that could not be read so far as to pass the gate. It counts, too. */
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

/** Only what asks with a valid key is counted by it. */
function countedByOf(operation: Gated | undefined, caller: LimitedCaller | undefined): CountedBy {
  return caller ? (operation?.countedBy ?? 'key') : 'address';
}

function admitAsDecided(
  request: FastifyRequest,
  countedBy: CountedBy,
  isBadKey: boolean,
  decision: Decision,
): undefined {
  const { operation, caller } = request;
  if (decision.verdict !== 'admitted') throw rejectionOf(decision, countedBy);
  rejectMalformed(request.raw);

  if (isBadKey) throw invalidKey();
  if (operation) {
    if (!caller) throw missingKey();
    rejectWithoutScope(operation, caller);
  }
  rejectOtherVersion(request.headers);
  rejectOtherForm(request.headers, operation?.success?.mediaType);
}

/** What can be wrong with a request that needs no key. */
function rejectUnservable(request: FastifyRequest): undefined {
  rejectMalformed(request.raw);
  rejectOtherVersion(request.headers);
}

function rejectWithoutScope({ scope }: Gated, { scopes }: Caller): void {
  if (scopes.has('admin')) return;
  const missing = requiredScopes(scope).filter(required => !scopes.has(required));
  if (missing.length === 0) return;
  const names = missing.map(name => `\`${name}\``).join(' and ');
  throw new ApiError(
    'insufficient_scope',
    `The API key lacks the scope${missing.length > 1 ? 's' : ''} ${names}`,
  );
}

function missingKey(): ApiError {
  return new ApiError(
    'missing_api_key',
    'Send an API key in the header X-API-Key, or as Authorization: Bearer <key>',
    { 'www-authenticate': 'Bearer realm="petstore"' },
  );
}

function invalidKey(): ApiError {
  return new ApiError('invalid_api_key', 'The API key is mistyped, unknown, expired or revoked', {
    'www-authenticate': 'Bearer realm="petstore", error="invalid_token"',
  });
}
