import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SECOND } from '../../src/kit/clock.ts';
import { aPet } from '../support/factories.ts';
import { importFromGuide } from '../support/guide-code.ts';
import { listenLocally } from '../support/local-server.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { assertNone } from '../support/values.ts';

type Call = (path: string, options?: { method?: string; body?: object }) => Promise<Response>;
type PetStore = (
  origin: string,
  key: string,
  wait: (milliseconds: number) => Promise<void>,
  now?: () => number,
) => Call;

/** Counts the requests of a client. Returns a function that waits until none is in flight and none follows at once. */
function countRequests(t: TestContext): () => Promise<void> {
  let inFlight = 0;
  const { fetch } = globalThis;
  t.mock.method(globalThis, 'fetch', (...args: Parameters<typeof fetch>) => {
    inFlight++;
    return fetch(...args).finally(() => inFlight--);
  });
  return async () => {
    for (let turn = 0; turn < 200; turn++) {
      await nextTurn();
      if (inFlight > 0) turn = 0;
    }
  };
}

function requestsIn({ logLines }: TestApp, keyId: number): Record<string, unknown>[] {
  return logLines().filter(line => line.msg === 'Request' && line.keyId === keyId);
}

describe('the client in the guide to the API', () => {
  it('completes every call despite a limit by the minute, sends nothing while it waits, and is never banned', async t => {
    const petStore = (await importFromGuide(t, 'petStore')) as PetStore;
    const shop = await startTestApp(t);
    const settle = countRequests(t);
    const { api, clock, origin, logLines, clientWith } = shop;
    const petId = await aPet(api, { stock: 100 });
    const { key, keyId } = await clientWith({
      plan: 'enterprise',
      scopes: ['pets:read', 'orders:write'],
      quotas: { perMinute: 7, perDay: 100 },
    });

    const pauses: { requests: number }[] = [];
    const call = petStore(origin, key, async milliseconds => {
      await settle();
      const before = requestsIn(shop, keyId).length;
      // After the time in which rejected requests are ignored: one that is sent now is a strike.
      clock.advance(3 * SECOND);
      await settle();
      pauses.push({ requests: requestsIn(shop, keyId).length - before });
      clock.advance(Math.max(0, Math.ceil(milliseconds) - 3 * SECOND));
    });
    const reads = Array.from({ length: 50 }, () => call('/pets'));
    const orders = Array.from({ length: 20 }, () =>
      call('/store/orders', { method: 'POST', body: { petId } }),
    );

    for (const response of await Promise.all(reads)) assert.equal(response.status, 200);
    for (const response of await Promise.all(orders)) assert.equal(response.status, 201);
    assert.equal((await api.get(`/store/inventory/${petId}`)).body.quantity, 80, 'each order once');
    const rejected = requestsIn(shop, keyId).filter(({ status }) => status === 429);
    assert.ok(pauses.length >= 8 && rejected.length >= pauses.length, `${pauses.length} pauses`);
    assert.ok(rejected.length <= 5 * pauses.length, `${rejected.length} rejected in ${pauses.length} pauses`);
    assertNone(pauses, ({ requests }) => requests > 0);
    assertNone(logLines(), ({ msg }) => msg === 'API key banned');
    assert.equal((await api.get(`/keys/${keyId}`)).body.ban, null);
  });

  it('returns the 429 when the requests of the day are used up, and sends nothing until the next day', async t => {
    const petStore = (await importFromGuide(t, 'petStore')) as PetStore;
    const shop = await startTestApp(t);
    const settle = countRequests(t);
    const { api, clock, origin, clientWith } = shop;
    const { key, keyId } = await clientWith({ plan: 'enterprise', quotas: { perMinute: 100, perDay: 10 } });
    const call = petStore(
      origin,
      key,
      async () => assert.fail('it waits for the next day'),
      () => clock.now(),
    );
    const outcomes = async (calls: number) => {
      const responses = await Promise.all(Array.from({ length: calls }, () => call('/pets')));
      return responses.map(({ status }) => status).toSorted();
    };

    const first = await outcomes(30);
    assert.deepEqual(first, [...Array(10).fill(200), ...Array(20).fill(429)]);
    await settle();
    const sent = requestsIn(shop, keyId).length;
    assert.ok(sent > 10 && sent <= 15, `${sent} requests were sent`);
    clock.set('2026-11-21T23:59:59Z');
    assert.deepEqual(await outcomes(20), Array(20).fill(429));
    await settle();
    assert.equal(requestsIn(shop, keyId).length, sent, 'a request was sent before midnight');
    clock.set('2026-11-22T00:00:00Z');
    assert.deepEqual(await outcomes(1), [200]);
    assert.equal((await api.get(`/keys/${keyId}`)).body.ban, null);
  });

  it('waits longer after each 503, at least as long as Retry-After, and gives up in the end', async t => {
    const petStore = (await importFromGuide(t, 'petStore')) as PetStore;
    const seen: IncomingHttpHeaders[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers);
      response.writeHead(503, { 'retry-after': '2', connection: 'close' }).end('{}');
    });

    const waits: number[] = [];
    const origin = await listenLocally(t, server);
    const call = petStore(origin, 'psk_', async milliseconds => void waits.push(milliseconds / SECOND));
    const { status } = await call('/store/orders', { method: 'POST', body: {} });
    assert.deepEqual([status, seen.length, waits.length], [503, 9, 8]);
    for (const [i, wait] of waits.entries()) {
      assert.ok(wait >= 2 && wait <= 2 + Math.min(2 ** i, 60), `wait ${i} was ${wait} s`);
    }
    assert.equal(new Set(waits).size, 8, 'jitter');
    const [key, ...others] = new Set(seen.map(headers => headers['idempotency-key']));
    assert.match(String(key), /^[\w-]{36}$/);
    assert.deepEqual(others, [], 'the same Idempotency-Key each time');
  });
});
