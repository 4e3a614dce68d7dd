import { type Call, post } from '../call.ts';
import type { Client } from '../client.ts';
import type { BatchResults } from '../contract.ts';
import type { BodyOf, PostOptions } from '../request.ts';

/** Makes several changes in one request. It counts as one request for each of its operations. Experimental. */
export const create = (
  client: Client,
  body: BodyOf<'POST /batch'>,
  options?: PostOptions,
): Call<BatchResults> =>
  post(client, 'POST /batch', [body], { ...options, cost: body.operations.length || 1 });
