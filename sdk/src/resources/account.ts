import { type Call, call } from '../call.ts';
import type { Client } from '../client.ts';
import type { Account } from '../contract.ts';
import { pacerOf } from '../lanes.ts';
import type { CallOptions } from '../request.ts';

/** Reads the plan, scopes, windows and ban of the API key. It uses no quota, and works during a ban. */
export const get = (client: Client, options?: CallOptions): Call<Account> =>
  call(client, 'GET /account', {}, { ...options, pacer: pacerOf(client, 'account') });
