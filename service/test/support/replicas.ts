import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { ApiResponse, Client } from './client.ts';
import { startTestApp, type TestApp } from './test-app.ts';
import { onPostgres } from './test-store.ts';
import { useShop } from './use-shop.ts';

export interface ReplicatedApp extends TestApp {
  /** Clients with the administrator's key: of four replicas on PostgreSQL, or the same one four times on SQLite. */
  apis: [Client, Client, Client, Client];
  /** Sends `count` concurrent requests, distributed over the replicas. */
  atOnce: (count: number, send: (api: Client, i: number) => Promise<ApiResponse>) => Promise<ApiResponse[]>;
}

/** Starts the service as races need it: four replicas on PostgreSQL, one process on SQLite, which allows only one. */
export async function startReplicas(
  t: TestContext,
  options: Parameters<typeof startTestApp>[1] = {},
): Promise<ReplicatedApp> {
  const shop = await startTestApp(t, options);
  return { ...shop, ...(await replicate(shop)) };
}

/** Starts it once for all cases of a file, which share it as `useShop` describes. */
export function useReplicas(options?: Parameters<typeof startTestApp>[1]): Readonly<ReplicatedApp> {
  const replicas = useShop(options, async shop => Object.assign(shop, await replicate(shop)));
  return replicas as ReplicatedApp;
}

async function replicate(shop: TestApp): Promise<Pick<ReplicatedApp, 'apis' | 'atOnce'>> {
  const another = async () => (onPostgres ? (await shop.replica()).api : shop.api);
  const apis: ReplicatedApp['apis'] = [shop.api, ...(await Promise.all([another(), another(), another()]))];
  // Each four requests begin with another replica, so that requests whose kind depends on `i % 4` reach all of them.
  const apiOf = (i: number) => apis[(i + (i >> 2)) % 4]!;
  return {
    apis,
    atOnce: (count, send) => Promise.all(Array.from({ length: count }, (_, i) => send(apiOf(i), i))),
  };
}

/** How often each outcome occurs among the responses: `{ '201': 1, '409 pet_not_available': 199 }`. */
export function tally(responses: readonly ApiResponse[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const response of responses) {
    const outcome = outcomeOf(response);
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

/** The status, followed by the error code for a rejection. */
export function outcomeOf({ status, body }: ApiResponse): string {
  return body?.code === undefined ? String(status) : `${status} ${body.code}`;
}

/** Fails when a response has an outcome that is not expected. */
export function assertOutcomes(responses: readonly ApiResponse[], expected: readonly string[]): void {
  const strays = responses.filter(response => !expected.includes(outcomeOf(response)));
  assert.deepEqual(tally(strays), {});
}
