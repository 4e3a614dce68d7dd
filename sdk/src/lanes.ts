import type { Client } from './client.ts';
import { createPacer, type Pacer } from './pacer.ts';

/**
 * Requests that do not wait for the limits of the API key: `GET /account` has limits of its own, and works during a ban. Operations
 * without a key use no quota, and work while the API is unavailable.
 */
export type Lane = 'account' | 'service';

const lanes = new WeakMap<Client, Record<Lane, Pacer>>();

/** Returns the pacer of a lane, which the calls of a client share. */
export function pacerOf(client: Client, lane: Lane): Pacer {
  const pacers = lanes.get(client) ?? { account: createPacer(client), service: createPacer(client) };
  lanes.set(client, pacers);
  return pacers[lane];
}
