import type { FastifyRequest } from 'fastify';
import type { LimitedCaller } from '../../access/api-keys/key-ring.ts';
import type { ApiError } from '../../contract/errors.ts';
import { addQuotaWarning } from './quota-warning.ts';
import { addRateLimitHeaders, rejectionOf, tooManyAtOnce } from './rate-limit-errors.ts';
import type { LimitServices } from './request-limits.ts';

/** What counts a request after its body was read. */
export type LateCountServices = Pick<LimitServices, 'keyLimits' | 'clock' | 'onDecision'>;

/**
 * Counts a request of an operation with a `cost`, as that many requests, when its body was read and checked. Rejects with
 * `invalid_request` when the limits can never admit it, with `rate_limit_exceeded`, or with `api_key_banned`.
 */
export async function countAs(
  services: LateCountServices,
  request: FastifyRequest,
  cost: number,
): Promise<void> {
  const caller = uncountedCaller(request);
  const { limits } = caller.terms;
  if (cost > Math.min(limits.perMinute, limits.perDay)) throw tooManyAtOnce(cost, limits);
  const rejection = await count(services, request, caller, cost);
  if (rejection) throw rejection;
}

/**
 * Counts a request that failed before `countAs` counted it, as one request. Resolves with the error to return: `error`, or
 * that of the limits if other requests have used up the rest in the meantime.
 */
export async function countFailed(
  services: LateCountServices,
  request: FastifyRequest,
  error: unknown,
): Promise<unknown> {
  return (await count(services, request, uncountedCaller(request), 1)) ?? error;
}

/** The decision is made at the current instant, because a window may have ended while the body arrived. */
async function count(
  { keyLimits, clock, onDecision }: LateCountServices,
  request: FastifyRequest,
  caller: LimitedCaller,
  cost: number,
): Promise<ApiError | undefined> {
  request.isUncounted = false;
  const decision = await keyLimits.decide(caller, clock.now(), cost);
  onDecision?.(decision.verdict, 'key');
  addRateLimitHeaders(request.head!, decision, caller.terms.limits);
  addQuotaWarning(request.head!, keyLimits, caller);
  return decision.verdict === 'admitted' ? undefined : rejectionOf(decision, 'key', caller.kind, cost);
}

/** Throws for a request that was counted already, or that counts against something other than its key. */
function uncountedCaller({ caller, isUncounted }: FastifyRequest): LimitedCaller {
  if (!caller || !isUncounted) throw new Error('Only a request that the gate has not counted can be counted');
  return caller as LimitedCaller;
}
