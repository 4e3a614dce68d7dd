import { type Call, call, post } from '../call.ts';
import type { Client } from '../client.ts';
import type { Account, PlanRequest } from '../contract.ts';
import { defined } from '../defined.ts';
import { pacerOf } from '../lanes.ts';
import type { BodyOf, CallOptions, PostOptions } from '../request.ts';

/** Reads the plan, scopes, windows and ban of the API key. It uses no quota, and works during a ban. */
export const get = (client: Client, options?: CallOptions): Call<Account> =>
  call(client, 'GET /account', [], { ...options, pacer: pacerOf(client, 'account') });

/** Requests another plan for the API key, or other quotas of an Enterprise key. It works while the limits are used up. Experimental. */
export const requestPlan = (
  client: Client,
  body: BodyOf<'POST /account/plan-requests'>,
  options?: PostOptions,
): Call<PlanRequest> =>
  post(client, 'POST /account/plan-requests', [body], {
    ...defined(options),
    pacer: pacerOf(client, 'account'),
  });

/** Reads a plan request of the API key. Experimental. */
export const planRequest = (client: Client, requestId: number, options?: CallOptions): Call<PlanRequest> =>
  call(client, 'GET /account/plan-requests/{requestId}', [requestId], {
    ...options,
    pacer: pacerOf(client, 'account'),
  });
