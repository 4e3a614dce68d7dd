import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { scrape } from '../support/metrics.ts';
import { exchangeUntilEnd, RawConnection } from '../support/raw-connection.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { useShop } from '../support/use-shop.ts';
import { limitsIn } from './limit-headers.ts';
import { usedUp } from './provoke-ban.ts';

const shop = useShop();

/** A batch that creates `n` draft orders. */
function batchOf(n: number): { operations: object[] } {
  return { operations: Array(n).fill({ method: 'POST', path: '/store/orders', body: {} }) };
}

function send(client: Client, n: number, headers: Record<string, string> = {}): Promise<ApiResponse> {
  return client.post('/batch', batchOf(n), headers);
}

async function assertAdmitted(client: Client, n: number): Promise<ApiResponse> {
  const response = await send(client, n);
  assert.equal(response.status, 200, response.text);
  return response;
}

/** Asserts how many requests of the minute a key has used, by its account, which uses no quota. */
async function assertUsed(client: Client, used: number): Promise<void> {
  const { windows } = (await client.get('/account')).body;
  assert.deepEqual([windows.minute.used, windows.day.used], [used, used]);
}

const enterprise = (perMinute: number, perDay: number) =>
  ({ plan: 'enterprise', quotas: { perMinute, perDay } }) as const;

/** The head of a batch whose body has this length, up to the first byte of the body. */
function headOf(key: string, length: number, expect = ''): string {
  return (
    `POST /batch HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nConnection: close\r\n` +
    `${expect}Content-Length: ${length}\r\n\r\n`
  );
}

/** A batch of which the service has received the head, but not the body. `sendBody` sends that and returns the response. */
async function uploading(
  { origin }: TestApp,
  client: { key: string },
  body: string,
): Promise<{ connection: RawConnection; sendBody: () => Promise<ApiResponse> }> {
  const connection = new RawConnection(origin);
  connection.send(headOf(client.key, body.length, 'Expect: 100-continue\r\n'));
  await until('the service has read the head', () => connection.received.startsWith('HTTP/1.1 100 '));
  const sendBody = async () => {
    connection.send(body);
    return (await connection.responses()).at(-1)!;
  };
  return { connection, sendBody };
}

describe('a batch of n operations', () => {
  it('counts as n requests in both windows, the headers, the usage and the account', async t => {
    const shop = await startTestApp(t);
    const client = await shop.clientWith({ plan: 'free' });
    const { limit, remaining } = limitsIn(await assertAdmitted(client, 7), shop.clock.now());
    assert.deepEqual([limit, remaining], [60, 53]);
    await assertUsed(client, 7);
    const { body } = await shop.api.get(`/keys/${client.keyId}/usage`);
    assert.deepEqual(body.days, [{ date: '2026-11-21', admitted: 7, refused: 0 }]);
    await client.get('/pets');
    await assertUsed(client, 8);
  });

  it('is admitted or rejected as a whole, and uses nothing when it is rejected', async t => {
    const { clock, clientWith, api } = await startTestApp(t);
    const client = await clientWith({ plan: 'free' });
    await assertAdmitted(client, 50);
    const response = await send(client, 11);
    assert.equal(
      assertRejected(response, 429, 'rate_limit_exceeded'),
      'The batch counts as 11 requests, one for each operation, but only 10 of the 60 of this minute remain; the next minute ' +
        'starts at 2026-11-21T12:01:00Z: retry after 60 s, or send fewer operations',
    );
    assert.deepEqual(limitsIn(response, clock.now()), { limit: 60, remaining: 10, reset: 1_795_262_460 });
    assert.equal(response.headers['x-should-retry'], 'true');
    await assertUsed(client, 50);
    assert.equal((await client.get('/store/orders?count=true')).headers['x-total-count'], '50');
    await assertAdmitted(client, 9);
    assertRejected(await client.get('/pets'), 429, 'rate_limit_exceeded');
    const { body } = await api.get(`/keys/${client.keyId}/usage`);
    assert.deepEqual(body.days, [{ date: '2026-11-21', admitted: 60, refused: 2 }]);
  });

  it('that the plan can never admit is a 400 that states the largest size, and counts as one request', async () => {
    const { clock, clientWith } = shop;
    const free = await clientWith({ plan: 'free' });
    const response = await send(free, 61);
    assertInvalid(
      response,
      'The batch counts as 61 requests, one for each operation, but the API key has 60 a minute and 1000 a day: send at most ' +
        '60 operations in a batch',
    );
    assert.equal(limitsIn(response, clock.now()).remaining, 59);
    await assertUsed(free, 1);
    const limitedByDay = await clientWith(enterprise(100, 1));
    assertInvalid(await send(limitedByDay, 2), /send at most 1 operation in a batch$/);
    assertRejected(await send(limitedByDay, 2), 429, 'rate_limit_exceeded');
    const largest = await clientWith(enterprise(20, 30));
    assertInvalid(await send(largest, 21));
    clock.advance(MINUTE);
    await assertAdmitted(largest, 20);
  });

  it('counts n when an operation fails, because it was decided before anything is executed', async () => {
    const client = await shop.clientWith({ plan: 'free' });
    const broken = { operations: [...batchOf(3).operations, { method: 'DELETE', path: '/pets/999' }] };
    const response = await client.post('/batch', broken);
    assertRejected(response, 404, 'pet_not_found');
    assert.equal(limitsIn(response, shop.clock.now()).remaining, 56);
    await assertUsed(client, 4);
  });

  it('counts n when the key lacks the scope of an operation', async () => {
    const client = await shop.clientWith({ plan: 'free', scopes: ['pets:read'] });
    assertRejected(await send(client, 5), 403, 'insufficient_scope');
    await assertUsed(client, 5);
  });

  it('counts n again when it is replayed', async () => {
    const client = await shop.clientWith({ plan: 'free' });
    const first = await send(client, 25, { 'idempotency-key': 'import-1' });
    const replay = await send(client, 25, { 'idempotency-key': 'import-1' });
    assert.equal(replay.headers['idempotency-replayed'], 'true');
    assert.deepEqual(replay.body, first.body);
    await assertUsed(client, 50);
    assertRejected(await send(client, 25, { 'idempotency-key': 'import-1' }), 429, 'rate_limit_exceeded');
  });

  it('is one decision and one HTTP request in the metrics', async t => {
    const shop = await startTestApp(t, { environment: { OPS_PORT: '0' } });
    const client = await shop.clientWith({ plan: 'free' });
    const before = await scrape(shop.metricsUrl);
    await assertAdmitted(client, 40);
    await send(client, 40);
    await send(client, 61);
    const after = await scrape(shop.metricsUrl);
    const increase = (name: string, labels: Record<string, string>) =>
      after.total(name, labels) - before.total(name, labels);
    const decisions = (verdict: string) =>
      increase('petstore_rate_limit_decisions_total', { verdict, counted_by: 'key' });
    assert.deepEqual([decisions('admitted'), decisions('refused')], [2, 1]);
    assert.equal(increase('http_request_duration_seconds_count', { route: '/batch' }), 3);
  });
});

describe('a batch whose body is rejected', () => {
  const bodies: [name: string, status: number, body: string, headers: Record<string, string>][] = [
    ['is not JSON', 400, '{"operations": [', {}],
    ['is not an object', 400, '[]', {}],
    ['has no operations', 400, '{"operations": []}', {}],
    ['has an unknown field', 400, '{"operations": [{}], "atomc": true}', {}],
    ['has more than 1,000 operations', 400, JSON.stringify(batchOf(1_001)), {}],
    ['is over 1 MiB', 413, `{"operations": ["${'x'.repeat(1_048_577)}"]}`, {}],
    ['is not sent as JSON', 415, '{}', { 'content-type': 'text/plain' }],
    ['is compressed', 415, '{}', { 'content-encoding': 'gzip' }],
    ['is for another version', 400, '{}', { 'api-version': '7' }],
    ['is for a path with a query', 400, '{}', { path: '/batch?dry=true' }],
  ];
  it('counts as one request and has the headers of it', async () => {
    const client = await shop.clientWith({ plan: 'free' });
    for (const [i, [name, status, body, { path = '/batch', ...headers }]] of bodies.entries()) {
      const response = await client.post(path, body, headers);
      assert.equal(response.status, status, `${name}: ${response.text}`);
      assert.equal(limitsIn(response, shop.clock.now()).remaining, 59 - i, name);
      await assertUsed(client, i + 1);
    }
  });

  it('counts as one request of the address when the key is unknown', async () => {
    for (const key of [undefined, `psk_${'x'.repeat(38)}`]) {
      const response = await send(shop.api.as(key), 5);
      assert.equal(response.status, 401);
      assert.equal(limitsIn(response, shop.clock.now()).remaining, key === undefined ? 59 : 58);
    }
  });

  it('is a 429 when other requests have used up the quota in the meantime', async () => {
    const client = await shop.clientWith(enterprise(3, 100));
    await client.get('/pets');
    const { sendBody } = await uploading(shop, client, 'not JSON');
    await client.get('/pets');
    await client.get('/pets');
    assertRejected(await sendBody(), 429, 'rate_limit_exceeded');
    await assertUsed(client, 3);
  });

  it('counts as one request when the client disconnects before the body is complete', async () => {
    const client = await shop.clientWith({ plan: 'free' });
    await client.get('/pets');
    const { connection } = await uploading(shop, client, JSON.stringify(batchOf(5)));
    await assertUsed(client, 1);
    connection.send('{"operations": [');
    connection.socket.destroy();
    await until('the request is counted', async () => {
      const { windows } = (await shop.api.get(`/keys/${client.keyId}/usage`)).body;
      return windows.minute.used === 2;
    });
  });
});

describe('a batch is rejected before its body is read', () => {
  it('when the key has no quota left', async () => {
    const client = await usedUp(shop);
    const [response] = await exchangeUntilEnd(shop.origin, headOf(client.key, 500_000));
    assert.match(
      assertRejected(response!, 429, 'rate_limit_exceeded'),
      /^The one request of this day is used up; the next day starts at/,
    );
    assert.equal(limitsIn(response!, shop.clock.now()).remaining, 0);
  });

  it('when the key is banned, and ten such rejections ban a key', async () => {
    const client = await usedUp(shop);
    await send(client, 1);
    shop.clock.advance(2 * SECOND);
    for (let i = 0; i < 9; i++) assertRejected(await send(client, 1), 429, 'rate_limit_exceeded');
    for (let i = 0; i < 2; i++) {
      const [response] = await exchangeUntilEnd(shop.origin, headOf(client.key, 500_000));
      assertRejected(response!, 429, 'api_key_banned');
    }
  });

  it('when the key is publishable, which counts as one visit', async () => {
    const { origin, clientWith, clock } = shop;
    const { key } = await clientWith({
      plan: 'free',
      kind: 'publishable',
      origins: ['https://shop.example'],
      scopes: ['pets:read'],
    });
    const [response] = await exchangeUntilEnd(origin, headOf(key, 500_000));
    assertRejected(response!, 403, 'insufficient_scope', /^A publishable key can only read/);
    assert.equal(limitsIn(response!, clock.now()).remaining, 59);
  });
});

describe('a batch whose body arrives later than its head', () => {
  const body = JSON.stringify(batchOf(20));

  it('counts in the window in which it is decided', async () => {
    const client = await shop.clientWith({ plan: 'free' });
    await assertAdmitted(client, 59);
    const { sendBody } = await uploading(shop, client, body);
    shop.clock.advance(MINUTE);
    const response = await sendBody();
    assert.equal(response.status, 200, response.text);
    assert.equal(limitsIn(response, shop.clock.now()).remaining, 40);
    const { windows } = (await client.get('/account')).body;
    assert.deepEqual([windows.minute.used, windows.day.used], [20, 79]);
  });

  it('is rejected as a whole when other requests have used the quota in the meantime', async () => {
    const client = await shop.clientWith({ plan: 'free' });
    await client.get('/pets');
    const { sendBody } = await uploading(shop, client, body);
    await assertAdmitted(client, 40);
    const response = await sendBody();
    assertRejected(response, 429, 'rate_limit_exceeded', /only 19 of the 60 of this minute remain/);
    await assertUsed(client, 41);
  });
});
