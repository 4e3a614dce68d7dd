import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type App, buildApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { Client } from './client.ts';
import { TestClock } from './test-clock.ts';
import { newTestStore } from './test-store.ts';

export interface TestApp {
  app: App;
  /** A client with the administrator's key. */
  api: Client;
  adminKey: string;
  clock: TestClock;
  origin: string;
  /** Where the metrics are; only with `OPS_PORT`. */
  metricsUrl: string | undefined;
  directory: string;
  /** Every line that was logged so far. */
  logLines: () => Record<string, unknown>[];
  /** Creates a key and answers a client that uses it. */
  clientWith: (key: NewKey) => Promise<Client & { key: string; keyId: number }>;
  /** Closes the service and starts it again on its store, under the same clock. */
  restart: () => Promise<TestApp>;
}

export interface NewKey {
  plan?: 'free' | 'pro' | 'business' | 'enterprise';
  scopes?: string[];
  quotas?: { perMinute: number; perDay: number };
  expiresAt?: string;
}

/**
 * Boots the real composition root on an empty store in a directory of its own, with a clock that tests turn. When the
 * test ends all of it is taken down, and the test fails if anything is left behind.
 */
export async function startTestApp(
  t: TestContext,
  {
    environment = {},
    clock = new TestClock(),
    alone = true,
  }: {
    environment?: Record<string, string>;
    clock?: TestClock;
    /** Whether nothing else in this process opens sockets or timers meanwhile. Only then can it be told what is left. */
    alone?: boolean;
  } = {},
): Promise<TestApp> {
  const store = await newTestStore();
  const resources = openResources();
  const lines: string[] = [];
  const config = readConfig({ PORT: '0', ...store.environment, ...environment });
  let adminKey = '';
  let stop: () => Promise<void>;

  const boot = async (): Promise<TestApp> => {
    const app = await buildApp(config, { clock, logDestination: { write: line => void lines.push(line) } });
    await app.createFirstKey(secret => {
      adminKey = secret;
    });
    const origin = await app.server.listen({ host: '127.0.0.1', port: 0 });
    const metricsUrl = await app.ops?.listen('127.0.0.1', 0);
    const api = new Client(origin, adminKey);
    stop = async () => {
      api.close();
      await app.close();
    };
    return {
      app,
      api,
      adminKey,
      clock,
      origin,
      metricsUrl,
      directory: store.directory,
      logLines: () => lines.map(line => JSON.parse(line)),
      clientWith: async ({ plan = 'business', scopes = ['admin'], ...rest }) => {
        const { status, body } = await api.post('/keys', { name: 'Test client', plan, scopes, ...rest });
        assert.equal(status, 201, JSON.stringify(body));
        return Object.assign(api.as(body.key), { key: body.key as string, keyId: body.id as number });
      },
      restart: async () => {
        await stop();
        return boot();
      },
    };
  };

  const shop = await boot();
  t.after(async () => {
    await stop();
    await store.remove();
    if (alone) await assertNothingLeft(resources);
  });
  return shop;
}

/** Sockets, servers and timers that are open now, each kind as often as it is. */
function openResources(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter(name => /^(TCP|Timeout|Immediate)/.test(name))
    .sort();
}

async function assertNothingLeft(before: string[]): Promise<void> {
  // A closed socket is let go of some turns of the event loop later.
  for (let turn = 0; turn < 100 && openResources().length > before.length; turn++) await nextTurn();
  assert.deepEqual(openResources(), before, 'sockets or timers were left behind');
}
