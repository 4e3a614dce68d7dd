import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, KeyRing } from '../../access/api-keys/key-ring.ts';
import { planLimits } from '../../access/plans/plan.ts';
import type { Route } from '../../contract/define-route.ts';
import { ApiError } from '../../contract/errors.ts';
import type { Decision } from '../../counters/fixed-windows.ts';
import type { MemoryCounters } from '../../counters/memory.ts';
import type { Clock } from '../../kit/clock.ts';
import { presentedKey } from './credentials.ts';
import { API_VERSION, refuseOtherForm, refuseOtherVersion } from './negotiation.ts';
import { refuseMalformed } from './well-formed.ts';

export interface GateServices {
  keyRing: KeyRing;
  counters: MemoryCounters;
  clock: Clock;
}

/** What the gate needs to know of an operation. Where there is none (404, 405) a key is optional. */
export type Gated = Pick<Route, 'scope' | 'path'>;

declare module 'fastify' {
  interface FastifyRequest {
    /** Milliseconds since the Unix epoch; 0 until the gate is passed. */
    receivedAt: number;
    caller: Caller | undefined;
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

  /** Throws or rejects when the request is refused. It answers a promise only when the key has to be read. */
  pass(
    request: FastifyRequest,
    reply: FastifyReply,
    operation: Gated | undefined,
  ): Promise<void> | undefined {
    const { keyRing, clock } = this.#services;
    const now = clock.now();
    request.receivedAt = now;
    request.operation = operation;
    reply.headers({
      'x-request-id': request.id,
      'api-version': API_VERSION,
      'x-content-type-options': 'nosniff',
    });

    if (operation?.scope === null) {
      this.#tellOfAddress(request, reply);
      refuseMalformed(request.raw);
      refuseOtherVersion(request.headers);
      return undefined;
    }
    const key = presentedKey(request.headers);
    const caller = key === undefined ? undefined : keyRing.find(key, now);
    if (!(caller instanceof Promise)) {
      this.#admit(request, reply, key, caller);
      return undefined;
    }
    // Should the store fail to say whose key it is, that answer has the headers of the caller's address.
    this.#tellOfAddress(request, reply);
    return caller.then(read => this.#admit(request, reply, key, read));
  }

  #admit(
    request: FastifyRequest,
    reply: FastifyReply,
    key: string | undefined,
    caller: Caller | undefined,
  ): void {
    const { counters } = this.#services;
    const { operation, receivedAt } = request;
    request.caller = caller;
    const decision = caller
      ? counters.admit(caller.subject, caller.limits, receivedAt)
      : counters.admit(addressSubject(request.ip), planLimits.free, receivedAt);
    reply.headers(rateLimitHeaders(decision));
    if (!decision.admitted) throw rateLimitExceeded(decision);
    refuseMalformed(request.raw);

    if (key !== undefined && !caller) throw invalidKey();
    if (operation) {
      if (!caller) throw missingKey();
      if (!caller.scopes.has(operation.scope!) && !caller.scopes.has('admin')) {
        throw new ApiError('insufficient_scope', `The API key lacks the scope \`${operation.scope}\``);
      }
    }
    refuseOtherVersion(request.headers);
    refuseOtherForm(request.headers);
  }

  /** The rate-limit headers of the caller's address, with nothing counted. */
  #tellOfAddress(request: FastifyRequest, reply: FastifyReply): void {
    const { ip, receivedAt } = request;
    reply.headers(
      rateLimitHeaders(this.#services.counters.peek(addressSubject(ip), planLimits.free, receivedAt)),
    );
  }

  /** The headers of a response to a request that could not be read so far as to pass the gate. It counts, too. */
  headersForUnreadable(address: string): Record<string, string | number> {
    const { counters, clock } = this.#services;
    return rateLimitHeaders(counters.admit(addressSubject(address), planLimits.free, clock.now()));
  }
}

/** Callers without a valid key are counted by their address, under the Free plan. */
function addressSubject(address: string): string {
  return `address:${address}`;
}

function rateLimitHeaders({ limit, remaining, reset }: Decision) {
  return { 'x-ratelimit-limit': limit, 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset };
}

function rateLimitExceeded({ limit, window, reset, retryAfter }: Decision): ApiError {
  const until = new Date(reset * 1_000).toISOString().replace('.000', '');
  return new ApiError(
    'rate_limit_exceeded',
    `The ${limit} requests of this ${window} are used up; the next ${window} begins at ${until}: retry after ${retryAfter} s`,
    { 'retry-after': String(retryAfter) },
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
