import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { readStandings } from '../../src/access/api-keys/standings.ts';
import { type App, buildApp, type Overrides } from '../../src/app.ts';
import type { Database } from '../../src/db/database.ts';
import { WebhookDispatcher } from '../../src/events/webhooks/dispatcher.ts';
import type { Request } from '../../src/events/webhooks/lane-rules.ts';
import { serve } from '../../src/events/webhooks/serve.ts';
import { sweepSlice } from '../../src/events/webhooks/sweep.ts';
import { MINUTE } from '../../src/kit/clock.ts';
import type { Client } from '../support/client.ts';
import { type Metrics, scrape } from '../support/metrics.ts';
import { numbersTo } from '../support/numbers.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import type { TestClock } from '../support/test-clock.ts';
import { onPostgres } from '../support/test-store.ts';
import { until } from '../support/until.ts';
import { Receiver } from './receiver.ts';

export const ALLOW_PRIVATE = { PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' };

/** The scopes that a key needs to create webhooks for all events of the shop. */
export const WEBHOOK_SCOPES = ['webhooks:write', 'events:read', 'pets:read', 'orders:read', 'inventory:read'];

/** How long an attempt may take, in milliseconds. Requests stay on hold for as long as a slow machine needs. */
const TIME_LIMIT = 10 * MINUTE;

/** Webhooks get higher IDs than this one, so that a test sees it if the ID of a key, a delivery or an event is used instead. */
const LAST_ID = 100;

/** A shop with endpoints on 127.0.0.1. Pauses between attempts have no jitter, and a shutdown does not wait for attempts. */
export async function webhookShop(
  t: { after(release: () => Promise<unknown>): void },
  {
    receivers: count = 1,
    clock,
    webhooks,
    environment,
    shared = onPostgres,
  }: {
    receivers?: number;
    clock?: TestClock;
    webhooks?: Overrides['webhooks'];
    environment?: Record<string, string>;
    shared?: boolean;
  } = {},
): Promise<WebhookShop> {
  const receivers: Receiver[] = [];
  // Must close before the service, which checks at its shutdown that no socket remains.
  while (receivers.length < count) receivers.push(await Receiver.start());
  t.after(() => Promise.all(receivers.map(receiver => receiver.close())));
  const shop = await startTestApp(t, {
    environment: { ...ALLOW_PRIVATE, ...environment },
    shared,
    ...(clock && { clock }),
    webhooks: { random: () => 0.5, shutdownTimeout: 0, timeout: TIME_LIMIT, ...webhooks },
  });
  await shop.app.db.write(async tx => {
    await tx.run(
      `INSERT INTO webhooks (api_key_id, url, enabled, secret, position, created_at)
       ${numbersTo(LAST_ID)} SELECT 1, 'http://127.0.0.1:9/', 1, '', 0, 0 FROM numbers`,
    );
    await tx.run('DELETE FROM webhooks');
  });
  return new WebhookShop(shop, receivers);
}

export class WebhookShop {
  readonly shop: TestApp;
  readonly receivers: readonly Receiver[];

  constructor(shop: TestApp, receivers: readonly Receiver[]) {
    this.shop = shop;
    this.receivers = receivers;
  }

  get api(): Client {
    return this.shop.api;
  }

  get clock(): TestClock {
    return this.shop.clock;
  }

  get receiver(): Receiver {
    return this.receivers[0]!;
  }

  async webhook(
    settings: { types?: string[]; enabled?: boolean; description?: string } = {},
    receiver = this.receiver,
    api = this.api,
  ): Promise<{ id: number; secret: string; path: string }> {
    const { status, body, text } = await api.post('/webhooks', { url: receiver.url, ...settings });
    assert.equal(status, 201, text);
    return { id: body.id, secret: body.secret, path: `/webhooks/${body.id}` };
  }

  /** Runs a transaction that a lane requests for a webhook. */
  serve(id: number, request: Request, keyId = 1, { url } = this.receiver): ReturnType<typeof serve> {
    const options = { readStandings, now: this.clock.now(), source: '/' };
    return serve(this.shop.app.db, { id, url, api_key_id: keyId }, request, options);
  }

  /** Appends one event with a subject of its own: `categories/1` for the first. */
  async category(): Promise<number> {
    const { status, body } = await this.api.post('/categories', { name: `Category ${Math.random()}` });
    assert.equal(status, 201);
    return body.id;
  }

  /** Appends one more event of that subject. */
  async rename(categoryId: number, name: string): Promise<void> {
    assert.equal((await this.api.patch(`/categories/${categoryId}`, { name })).status, 200);
  }

  /** Attempts every delivery that is due. */
  async settle(): Promise<void> {
    await this.shop.app.db.numberEvents();
    await sendDue(this.shop.app);
  }

  /** Appends one event with a subject of its own, and attempts every delivery that is due. */
  async deliver(): Promise<number> {
    const categoryId = await this.category();
    await this.settle();
    return categoryId;
  }

  /** Advances the clock, then attempts every delivery that is due. */
  async after(milliseconds: number): Promise<void> {
    this.clock.advance(milliseconds);
    await this.settle();
  }

  // biome-ignore lint/suspicious/noExplicitAny: a resource
  async read(path: string): Promise<any> {
    const { status, body, text } = await this.api.get(path);
    assert.equal(status, 200, text);
    return body;
  }

  /** The metrics with the figures of the store, which they lack if the store does not respond within a second. */
  async metrics(): Promise<Metrics> {
    let metrics!: Metrics;
    await until('the metrics have the figures of the store', async () => {
      metrics = await scrape(this.shop.metricsUrl);
      return metrics.samples.some(({ name }) => name === 'petstore_webhooks_failing');
    });
    return metrics;
  }

  /** The deliveries of a webhook with their attempts, oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: resources
  async deliveries(path: string): Promise<any[]> {
    const list = await this.read(`${path}/deliveries?sort=id&limit=100`);
    return Promise.all(
      list.map((delivery: { id: number }) => this.read(`${path}/deliveries/${delivery.id}`)),
    );
  }
}

/** Returns a function that ends the time limit of the attempt that started last. */
export function watchTimeLimits(t: TestContext): () => void {
  let end = () => {};
  const { setTimeout } = globalThis;
  t.mock.method(globalThis, 'setTimeout', (run: () => void, delay: number) => {
    if (delay === TIME_LIMIT) end = run;
    return setTimeout(run, delay);
  });
  return () => end();
}

/** Deletes everything that sweeps delete, such as deliveries that ended before `before` (milliseconds since the Unix epoch). */
export async function sweepAll(db: Database, times: { before: number; now: number }): Promise<void> {
  while (await sweepSlice(db, times));
}

/** Sends all due deliveries, and those that become due as a result. */
export async function sendDue({ db, dispatcher }: Pick<App, 'db' | 'dispatcher'>): Promise<void> {
  const progress = async () =>
    JSON.stringify(
      await db.get(
        `SELECT (SELECT sum(position) FROM webhooks) AS position, count(*) AS planned, sum(attempts) AS attempts,
           sum(leased_until) AS leases, sum(next_attempt_at) AS next, count(finished_at) AS finished FROM webhook_deliveries`,
      ),
    );
  let before: string;
  let now = await progress();
  do {
    before = now;
    await dispatcher.look(true);
    await dispatcher.idle();
    now = await progress();
  } while (now !== before);
  assert.equal(dispatcher.hasLostConnections, false);
}

/**
 * Another replica: a second service on PostgreSQL; a second dispatcher on the embedded store, which belongs to one
 * process. It sends only when the test runs it.
 */
export async function anotherReplica({ app, clock }: TestApp) {
  const other = onPostgres
    ? await buildApp(app.config, { clock, logDestination: { write: () => {} } })
    : undefined;
  let killed = false;
  const { db, tail } = other ?? app;
  const own = Object.create(db, {
    get: { value: (...query: Parameters<Database['get']>) => db.get(...query) },
    all: { value: (...query: Parameters<Database['all']>) => db.all(...query) },
    onNotice: { value: db.onNotice.bind(db) },
    write: { value: (work: Parameters<Database['write']>[0]) => (killed ? dead() : db.write(work)) },
  }) as Database;
  const dispatcher = new WebhookDispatcher({
    db: own,
    tail,
    clock,
    endpoints: app.endpoints,
    random: () => 0.5,
    timeout: TIME_LIMIT,
    shutdownTimeout: 0,
    connections: { total: 100, perHost: 20 },
    readStandings,
    source: app.config.publicUrl,
    onDisabled: () => {},
    onTurn: () => {},
    onAttempt: () => {},
    onError: () => {},
  });
  return {
    db: own,
    dispatcher,
    /** Disconnects it from the store, as when its process is killed. */
    kill: () => {
      killed = true;
    },
    close: async () => {
      await dispatcher.close();
      await other?.close();
    },
  };
}

function dead(): Promise<never> {
  return Promise.reject(new Error('The process was killed'));
}
