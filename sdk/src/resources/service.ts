import { type Call, call } from '../call.ts';
import type { Client } from '../client.ts';
import type { Health, Readiness } from '../contract.ts';
import { defined } from '../defined.ts';
import { pacerOf } from '../lanes.ts';
import type { CallOptions } from '../request.ts';

/** These operations describe the present state, so they are not sent again. */
const once = (client: Client, options?: CallOptions) => ({
  maxRetries: 0,
  ...defined(options),
  pacer: pacerOf(client, 'service'),
});

/** Reads whether the process is alive. */
export const health = (client: Client, options?: CallOptions): Call<Health> =>
  call(client, 'GET /healthz', [], once(client, options));

/** Reads whether the service is ready. Throws `ServerError` if it is not. */
export const readiness = (client: Client, options?: CallOptions): Call<Readiness> =>
  call(client, 'GET /readyz', [], once(client, options));

/** Reads the contract as an object. */
export const contract = (client: Client, options?: CallOptions): Call<Record<string, unknown>> =>
  call(client, 'GET /openapi.json', [], once(client, options));

/** Reads the contract in YAML. */
export const contractAsYaml = (client: Client, options?: CallOptions): Call<string> =>
  call(client, 'GET /openapi.yaml', [], { ...once(client, options), accepts: 'yaml' });
