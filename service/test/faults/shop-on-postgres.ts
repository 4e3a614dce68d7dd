import assert from 'node:assert/strict';
import { after, before, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type PostgresOptions,
  type PostgresServer,
  startPostgres,
} from '../../../scripts/servers/postgres.ts';
import { SECOND } from '../../src/kit/clock.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { dataDirectory, type ServiceProcess, serve } from '../support/service-process.ts';
import { administer, newDatabase } from '../support/test-store.ts';
import { inTime } from '../support/until.ts';

/** PETSTORE_DATABASE_TIMEOUT_SECONDS of these services by default. On a busy machine a statement can take a second without a fault. */
const STATEMENT_SECONDS = 2;

/**
 * How long an operation may take while the database hangs, in milliseconds: 2 s for a connection, the time limit of a
 * statement, and 1 s until its response is given up. Six times that, because the machine may be busy.
 */
export const LONGEST_RESPONSE = 6 * (2 + STATEMENT_SECONDS + 1) * SECOND;

/** How long a service may take to recover once its database works again, in milliseconds. Mostly it takes less than a second. */
const LONGEST_RECOVERY = 20 * SECOND;

/**
 * By default, PostgreSQL flushes each data file separately after a crash, which takes seconds. This flushes all at
 * once.
 */
const settings: Record<string, string> =
  process.platform === 'linux' ? { recovery_init_sync_method: 'syncfs' } : {};

/** A PostgreSQL for the tests of a file. */
export function postgresOfThisFile(options: PostgresOptions = {}): { postgres: PostgresServer } {
  const holder = {} as { postgres: PostgresServer };
  before(async () => {
    holder.postgres = await startPostgres({ settings, ...options });
  });
  after(() => holder.postgres?.stop());
  return holder;
}

/** Creates a database on the server of all tests, which is dropped when the test ends. Returns its URL. */
export async function aDatabase(t: TestContext): Promise<string> {
  const { name, url } = await newDatabase();
  // The service may still use it.
  t.after(() => administer(client => client.query(`DROP DATABASE ${name} WITH (FORCE)`)));
  return url;
}

export interface Shop {
  service: ServiceProcess;
  api: Client;
  databaseUrl: string;
}

/** Starts a service in its own process, and a client with the administrator's key. */
export async function aShop(
  t: TestContext,
  databaseUrl: string,
  { directory = dataDirectory(t), ...settings }: { directory?: string; [name: string]: string } = {},
): Promise<Shop> {
  const service = await serve(t, directory, {
    DATABASE_URL: databaseUrl,
    PETSTORE_DATABASE_TIMEOUT_SECONDS: String(STATEMENT_SECONDS),
    // All load comes from one address.
    PETSTORE_CONNECTIONS_PER_ADDRESS: '1000',
    ...settings,
  });
  return { service, api: service.api, databaseUrl };
}

/** Asserts a 503 with a Retry-After and rate-limit headers. The client has checked its shape. */
export function assertUnavailable({ status, body, headers, text }: ApiResponse): void {
  assert.deepEqual([status, body?.code, body?.status], [503, 'service_unavailable', 503], text);
  assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
  for (const name of ['limit', 'remaining', 'reset']) {
    assert.match(String(headers[`x-ratelimit-${name}`]), /^\d+$/);
  }
}

/** Awaits responses. Fails when one of them takes longer than the documented time limits allow. */
export function respondedInTime<T>(responses: Promise<T>[], limit = LONGEST_RESPONSE): Promise<T[]> {
  return inTime('the responses', Promise.all(responses), limit / SECOND);
}

/**
 * How long it takes until `work` gets a 2xx, in milliseconds. Until then it must get 503, or 409 while an earlier request with the same
 * idempotency key still runs.
 */
export async function recovery(work: () => Promise<ApiResponse>): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const [response] = await respondedInTime([work()]);
    if (response!.status < 300) return performance.now() - startedAt;
    if (response!.body?.code !== 'idempotency_key_in_use') assertUnavailable(response!);
    assert.ok(performance.now() - startedAt < LONGEST_RECOVERY, `still got ${response!.text}`);
    await sleep(20);
  }
}
