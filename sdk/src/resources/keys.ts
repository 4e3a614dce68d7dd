import { type Call, call, post } from '../call.ts';
import type { Client } from '../client.ts';
import type {
  ApiKey,
  BusiestKeys,
  CreatedApiKey,
  KeyUsage,
  LeakReceipt,
  PlanRequest,
  RotatedApiKey,
} from '../contract.ts';
import { defined } from '../defined.ts';
import { pacerOf } from '../lanes.ts';
import { type List, list as listOf } from '../list.ts';
import type { BodyOf, CallOptions, PostOptions, QueryOf } from '../request.ts';

/** Lists API keys. */
export const list = (client: Client, query?: QueryOf<'GET /keys'>, options?: CallOptions): List<ApiKey> =>
  listOf(client, 'GET /keys', [query], options);

/** Creates an API key. Its secret is in `key`, once. */
export const create = (
  client: Client,
  body: BodyOf<'POST /keys'>,
  options?: PostOptions,
): Call<CreatedApiKey> => post(client, 'POST /keys', [body], options);

/** Reads an API key. */
export const get = (client: Client, keyId: number, options?: CallOptions): Call<ApiKey> =>
  call(client, 'GET /keys/{keyId}', [keyId], options);

/** Changes fields of an API key. */
export const update = (
  client: Client,
  keyId: number,
  body: BodyOf<'PATCH /keys/{keyId}'>,
  options?: CallOptions,
): Call<ApiKey> => call(client, 'PATCH /keys/{keyId}', [keyId, body], options);

/** Revokes an API key, for ever. */
export const revoke = (client: Client, keyId: number, options?: CallOptions): Call<undefined> =>
  call(client, 'DELETE /keys/{keyId}', [keyId], options);

/** Replaces the secret of an API key. The earlier one works until `earlierKeysExpireAt`. */
export const rotate = (
  client: Client,
  keyId: number,
  body?: BodyOf<'POST /keys/{keyId}/rotate'>,
  options?: PostOptions,
): Call<RotatedApiKey> => post(client, 'POST /keys/{keyId}/rotate', [keyId, body], options);

/**
 * Reports leaked secrets: the service revokes their keys. Needs no API key, and does not state which of the secrets exist.
 * Experimental.
 */
export const revokeLeaked = (
  client: Client,
  body: BodyOf<'POST /keys/revoke-leaked'>,
  options?: PostOptions,
): Call<LeakReceipt> =>
  post(client, 'POST /keys/revoke-leaked', [body], {
    ...defined(options),
    pacer: pacerOf(client, 'service'),
  });

/** Lifts the ban of an API key. */
export const liftBan = (client: Client, keyId: number, options?: CallOptions): Call<undefined> =>
  call(client, 'DELETE /keys/{keyId}/ban', [keyId], options);

/** Restarts the minute and the day of an API key, and lifts its ban. Experimental. */
export const resetLimits = (client: Client, keyId: number, options?: CallOptions): Call<undefined> =>
  call(client, 'DELETE /keys/{keyId}/limits', [keyId], options);

/** Lists the API keys with the most requests today (UTC), at most 100. Experimental. */
export const busiest = (
  client: Client,
  query: QueryOf<'GET /key-usage'> = {},
  options?: CallOptions,
): Call<BusiestKeys> => call(client, 'GET /key-usage', [query], options);

/** Reads the windows of an API key, and its requests by day. Experimental. */
export const usage = (client: Client, keyId: number, options?: CallOptions): Call<KeyUsage> =>
  call(client, 'GET /keys/{keyId}/usage', [keyId], options);

/** Lists the plan requests of all API keys. Experimental. */
export const planRequests = (
  client: Client,
  query?: QueryOf<'GET /plan-requests'>,
  options?: CallOptions,
): List<PlanRequest> => listOf(client, 'GET /plan-requests', [query], options);

/** Reads a plan request. Experimental. */
export const getPlanRequest = (client: Client, requestId: number, options?: CallOptions): Call<PlanRequest> =>
  call(client, 'GET /plan-requests/{requestId}', [requestId], options);

/** Approves a plan request: the API key gets the requested plan. Experimental. */
export const approvePlanRequest = (
  client: Client,
  requestId: number,
  body?: BodyOf<'POST /plan-requests/{requestId}/approve'>,
  options?: PostOptions,
): Call<PlanRequest> => post(client, 'POST /plan-requests/{requestId}/approve', [requestId, body], options);

/** Declines a plan request, with a message. Experimental. */
export const declinePlanRequest = (
  client: Client,
  requestId: number,
  body: BodyOf<'POST /plan-requests/{requestId}/decline'>,
  options?: PostOptions,
): Call<PlanRequest> => post(client, 'POST /plan-requests/{requestId}/decline', [requestId, body], options);
