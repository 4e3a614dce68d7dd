import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { DatabaseUnavailable } from '../../src/db/database.ts';
import { LEASE, RESPONSE_TIMEOUT } from '../../src/events/webhooks/delivery-rules.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { EventReader } from '../support/event-reader.ts';
import { startTestApp } from '../support/test-app.ts';

const root = join(import.meta.dirname, '../../..');
const units: Record<string, number> = { SECOND, MINUTE, HOUR, DAY };
const { drainSeconds, shutdownSeconds, databaseTimeoutSeconds } = readConfig({});

/** The value of a constant in a file of the service, in milliseconds: a number, or a product of numbers and units. */
function constant(file: string, name: string): number {
  const text = readFileSync(join(root, 'service/src', `${file}.ts`), 'utf8');
  const [, product] = new RegExp(`^(?:export )?const ${name} = (.+);$`, 'm').exec(text) ?? [];
  assert.ok(product, `${file}.ts has no constant ${name}`);
  const factors = product.split('*').map(part => units[part.trim()] ?? Number(part.replaceAll('_', '')));
  return factors.reduce((all, factor) => all * factor);
}

const requestTimeout = 30 * SECOND;

// Other tests shorten these times. What they mean is in docs/operations.md and docs/api-guide.md.
const atMost: [file: string, name: string, most: number, why: string][] = [
  ['access/api-keys/key-ring', 'FRESH_FOR', SECOND, 'all replicas apply the change of a key within a second'],
  ['http/event-streams', 'KEY_CHECK', SECOND, 'the streams of a changed key end within a second'],
  [
    'events/event-log/event-tail',
    'POLL_INTERVAL',
    SECOND,
    'readers get events of other replicas within a second',
  ],
  ['db/postgres-relay', 'POLL_INTERVAL', SECOND, 'another replica numbers events within a second'],
  ['db/postgres-relay', 'GATHER_DELAY', 10, 'an event waits for others no longer than a group of writes'],
  ['db/postgres-listener', 'RECONNECT_DELAY', SECOND, 'a lost notification costs at most a second'],
  ['counters/redis', 'CHECK_INTERVAL', SECOND, 'a replica detects the loss of data of Redis within a second'],
  ['counters/redis-link', 'TIMEOUT', SECOND, 'a request does not wait longer for Redis'],
  ['counters/redis-link', 'RECONNECT_DELAY', SECOND, 'limits are shared again soon'],
  ['ops/store-figure', 'TIMEOUT', SECOND, 'a figure is missing that is not read within a second'],
  ['db/sqlite', 'GROUP_DURATION', 10, 'a group of writes takes 10 ms'],
  ['batches/batch-routes', 'SLICE', 25, 'no request blocks the loop for more than 25 ms'],
  ['db/sqlite', 'SERVING_TIMEOUT', 250, 'the wait for a lock blocks every request'],
  ['db/writability', 'TIMEOUT', SECOND, '/readyz responds within the second of a probe'],
  ['events/webhooks/dispatcher', 'INTERVAL', SECOND, 'a webhook without rights is disabled within a second'],
  ['events/webhooks/delivery-rules', 'RESPONSE_TIMEOUT', 15 * SECOND, 'receivers have 15 seconds'],
  ['events/webhooks/endpoints', 'RESOLVE_TIMEOUT', 15 * SECOND, 'the look-up is part of an attempt'],
  ['routes/message-sink', 'HEARTBEAT', 15 * SECOND, 'a stream is never silent for longer'],
  ['kit/line-buffer', 'MAX_WAIT', SECOND, 'log lines appear within a second'],
  ['access/api-keys/sign-in-ticket', 'LIFETIME', 15 * MINUTE, 'a link that signs in expires'],
];

const atLeast: [file: string, name: string, least: number, why: string][] = [
  ['events/webhooks/delivery-rules', 'RESPONSE_TIMEOUT', 15 * SECOND, 'receivers have 15 seconds'],
  ['routes/message-sink', 'HEARTBEAT', 5 * SECOND, 'heartbeats do not become a load'],
  ['db/sqlite', 'OPENING_TIMEOUT', 5 * SECOND, 'another process may be migrating'],
  ['http/server', 'KEEP_ALIVE_TIMEOUT', 60 * SECOND, 'proxies keep idle connections for 60 s'],
];

describe('the production value', () => {
  for (const [file, name, most, why] of atMost) {
    it(`${name} of ${file} is more than 0 and at most ${most} ms: ${why}`, () => {
      const value = constant(file, name);
      assert.ok(value > 0 && value <= most, `${value} ms`);
    });
  }
  for (const [file, name, least, why] of atLeast) {
    it(`${name} of ${file} is at least ${least} ms: ${why}`, () => {
      assert.ok(constant(file, name) >= least, `${constant(file, name)} ms`);
    });
  }

  it('of the lease of a delivery is at least two attempts, so that no other replica sends during one', () => {
    assert.ok(LEASE >= 2 * RESPONSE_TIMEOUT);
  });

  it('of the wait for the database leaves time to respond', () => {
    assert.ok(databaseTimeoutSeconds * SECOND < requestTimeout);
  });

  it('of each part of a shutdown ends within PETSTORE_SHUTDOWN_SECONDS, and the drain lasts several checks', () => {
    const parts = [
      constant('app', 'WEBHOOK_TIMEOUT'),
      constant('http/event-connection', 'END_TIMEOUT'),
      constant('db/postgres-start', 'CLOSE_TIMEOUT'),
      constant('kit/line-buffer', 'LAST_WAIT'),
    ];
    assert.ok(parts.reduce((all, part) => all + part) <= shutdownSeconds * SECOND, String(parts));
    assert.ok(drainSeconds >= 5);
  });
});

/** The intervals of the timers that the service starts until it serves a stream, in milliseconds. */
async function intervalsOf(t: TestContext, shared: boolean) {
  const timers = t.mock.method(globalThis, 'setInterval');
  const shop = await startTestApp(t, { shared });
  const started = timers.mock.calls.map(({ arguments: [, interval] }) => interval!);
  const reader = await EventReader.open(shop.origin, shop.adminKey);
  const all = timers.mock.calls.map(({ arguments: [, interval] }) => interval!);
  await reader.close();
  return { shop, started: started.toSorted((a, b) => a - b), ofStream: all.slice(started.length) };
}

describe('the running service', () => {
  it('uses these values on the embedded store: a crash loses the counts of a second', async t => {
    const { shop, started, ofStream } = await intervalsOf(t, false);
    assert.deepEqual(started, [800, SECOND, SECOND, SECOND, MINUTE]);
    assert.deepEqual(ofStream.toSorted(), [SECOND, SECOND, 15 * SECOND]);
    const { requestTimeout: request, headersTimeout, keepAliveTimeout, timeout } = shop.app.server.server;
    assert.deepEqual(
      [request, headersTimeout, keepAliveTimeout, timeout],
      [requestTimeout, requestTimeout, 72 * SECOND, 2 * MINUTE],
    );
  });

  it('stores counts less often with Redis, which keeps them', async t => {
    const { started } = await intervalsOf(t, true);
    assert.deepEqual(started, [500, SECOND, SECOND, SECOND, SECOND, 5 * SECOND, MINUTE]);
  });

  it('is ready as soon as the store can be written again, also after its clock was set back', async t => {
    const { api, clock, app } = await startTestApp(t);
    const probe = t.mock.method(app.db, 'tryWrite');
    const isReady = async () => (await api.get('/readyz')).body.status === 'ok';
    assert.ok(await isReady());
    clock.advance(-HOUR);
    probe.mock.mockImplementationOnce(async () => {
      throw new DatabaseUnavailable(undefined, 'full');
    });
    assert.ok(!(await isReady()), 'the probe of the time before does not count any more');
    clock.advance(-HOUR);
    assert.ok(await isReady(), 'nor does the failure');
  });
});
