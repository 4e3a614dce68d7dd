import assert from 'node:assert/strict';
import { type App, buildApp, type Overrides } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { Client } from './client.ts';
import { LoggedErrors } from './logged-errors.ts';
import { assertNothingLeft, openResources } from './resources.ts';
import { TestClock } from './test-clock.ts';
import { newTestStore, onPostgres, type TestStore } from './test-store.ts';

/** A running service, and a client of it with the administrator's key. */
export interface Replica {
  app: App;
  api: Client;
  origin: string;
}

export interface TestApp extends Replica {
  adminKey: string;
  clock: TestClock;
  store: TestStore;
  /** The URL of the metrics; only with `OPS_PORT`. */
  metricsUrl: string | undefined;
  directory: string;
  /** Every line that was logged so far. */
  logLines: () => Record<string, unknown>[];
  /** Allows errors in the log whose lines match. Any other error fails the test when the service stops. */
  expectErrors: (pattern: RegExp) => void;
  clientWith: (key: NewKey) => Promise<Client & { key: string; keyId: number }>;
  /** Closes the service and starts it again on its store, under the same clock. */
  restart: () => Promise<TestApp>;
  /**
   * Starts another service on the same store, under the same clock. PostgreSQL only: one process owns an SQLite store.
   */
  replica: () => Promise<Replica>;
}

export interface NewKey {
  name?: string;
  plan?: 'free' | 'pro' | 'business' | 'enterprise';
  scopes?: string[];
  kind?: 'secret' | 'publishable' | 'test';
  origins?: string[];
  quotas?: { perMinute: number; perDay: number };
  expiresAt?: string;
}

/** How many services of tests run in this process. Sockets and timers of one would be leaks of another. */
let runningCount = 0;

/**
 * Starts the whole service on an empty store, with a clock that the test controls. When the test ends, the service
 * stops, and the test fails if a socket, timer or file is left open, unless another service of a test runs.
 */
export async function startTestApp(
  t: { after(release: () => Promise<void>): void },
  {
    environment = {},
    clock = new TestClock(),
    webhooks = {},
    alone = true,
    shared = onPostgres,
    heartbeat,
    timeouts,
    isDemo = false,
  }: {
    environment?: Record<string, string>;
    clock?: TestClock;
    webhooks?: Overrides['webhooks'];
    /** `false` if the test opens other sockets or timers in this process, such as those that `fetch` keeps. */
    alone?: boolean;
    /** Whether to use PostgreSQL and Redis, which replicas share. The default is the store that the suite runs on. */
    shared?: boolean;
    /** Milliseconds between two heartbeats of a stream. */
    heartbeat?: number;
    timeouts?: Overrides['timeouts'];
    /** Whether the portal shows the shop as a demo. */
    isDemo?: boolean;
  } = {},
): Promise<TestApp> {
  const store = await newTestStore(shared);
  const isAlone = alone && runningCount === 0;
  const resources = openResources();
  const lines: string[] = [];
  const errors = new LoggedErrors();
  const config = readConfig({ PORT: '0', ...store.environment, ...environment });
  let adminKey = '';
  const running = new Set<Replica>();

  const logDestination = { write: (line: string) => void lines.push(line) };

  const bootReplica = async (): Promise<Replica> => {
    const app = await buildApp(config, {
      clock,
      logDestination,
      // Otherwise a Redis that a busy machine delays for a second makes exact limits inexact.
      redisTimeout: 30 * SECOND,
      isDemo,
      webhooks: { resolve: resolveNothing, ...webhooks },
      ...(heartbeat && { heartbeat }),
      ...(timeouts && { timeouts }),
    });
    try {
      await app.createFirstKey(secret => {
        adminKey = secret;
      });
      const origin = await app.server.listen({ host: '127.0.0.1', port: 0 });
      const replica = { app, api: new Client(origin, adminKey), origin };
      running.add(replica);
      return replica;
    } catch (error) {
      await app.close();
      throw error;
    }
  };
  const stop = async (replica: Replica): Promise<void> => {
    running.delete(replica);
    replica.api.close();
    await replica.app.close();
  };
  const boot = async (): Promise<TestApp> => {
    const booted = await bootReplica();
    const { api } = booted;
    return {
      ...booted,
      adminKey,
      clock,
      store,
      metricsUrl: await booted.app.ops?.listen('127.0.0.1', 0),
      directory: store.directory,
      logLines: () => lines.map(line => JSON.parse(line)),
      expectErrors: pattern => errors.expect(pattern),
      clientWith: async ({ plan = 'business', scopes = ['admin'], ...rest }) => {
        const { status, body } = await api.post('/keys', { name: 'Test client', plan, scopes, ...rest });
        assert.equal(status, 201, JSON.stringify(body));
        return Object.assign(api.as(body.key), { key: body.key as string, keyId: body.id as number });
      },
      restart: async () => {
        await stop(booted);
        return boot();
      },
      replica: () => {
        assert.ok(shared, 'replicas share a store: start this test with shared: true');
        return bootReplica();
      },
    };
  };

  runningCount += 1;
  t.after(async () => {
    for (const replica of running) await stop(replica);
    await store.remove();
    runningCount -= 1;
    if (isAlone && runningCount === 0) await assertNothingLeft(resources);
    errors.assertNoOthers(lines);
  });
  return boot();
}

/** Tests never query a name server, and never connect to other machines. */
async function resolveNothing(hostname: string): Promise<never> {
  throw new Error(`Tests do not resolve ${hostname}`);
}
