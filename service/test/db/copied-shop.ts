import assert from 'node:assert/strict';
import { type App, buildApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { describedRoutes } from '../../src/described-routes.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { type ApiResponse, Client } from '../support/client.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import type { TestClock } from '../support/test-clock.ts';

/** Starts the service on a store, passes a client of it to `work`, and closes it again. */
export async function onStore<T>(
  environment: Record<string, string>,
  clock: TestClock,
  work: (shop: { app: App; connect: (key?: string) => Client }) => Promise<T>,
): Promise<T> {
  const config = readConfig({ PORT: '0', LOG_LEVEL: 'silent', ...environment });
  const app = await buildApp(config, { clock });
  const origin = await app.server.listen({ host: '127.0.0.1', port: 0 });
  const clients: Client[] = [];
  const connect = (key?: string) => {
    const client = new Client(origin, key);
    clients.push(client);
    return client;
  };
  try {
    return await work({ app, connect });
  } finally {
    for (const client of clients) client.close();
    await app.close();
  }
}

/** The secrets of a shop that has rows in every table. */
interface Secrets {
  admin: string;
  /** The two secrets of one key: the rotated one, still valid for a while, and the one after it. */
  previous: string;
  current: string;
  banned: string;
}

export const firstOrder = { petId: 10, quantity: 2 };

/** Fills an empty store with animals, orders, keys, an old secret, a ban, usage, and outcomes of idempotency keys. */
export async function fill(environment: Record<string, string>, clock: TestClock): Promise<Secrets> {
  const lenient = { ...environment, PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' };
  return onStore(lenient, clock, async ({ app, connect }) => {
    let admin = '';
    await app.createFirstKey(secret => {
      admin = secret;
    });
    const api = connect(admin);
    const dogs = await aCategory(api, {
      name: 'Dogs — 犬 🐕',
      description: 'Line 1\nLine "2" \\u0000 \\x41 \'é\'',
    });
    for (let i = 0; i < 25; i++) await aPet(api, { name: `Rex ${i} Ä`, categoryId: dogs, stock: i });
    assert.equal((await api.post('/store/orders', firstOrder, { 'idempotency-key': 'first' })).status, 201);
    const order = await anOrder(api, { petId: 3, quantity: 1 });
    await api.patch(`/store/orders/${order}`, { complete: true });
    await anOrder(api, { petId: 4, shipDate: '2026-12-24T18:00:00.123+01:00' });
    await anOrder(api, {});
    // The highest IDs belong to deleted resources: they must not be assigned again.
    const deleted = await anOrder(api, {});
    assert.equal((await api.delete(`/store/orders/${deleted}`)).status, 204);
    assert.equal((await api.delete(`/pets/${await aPet(api, { categoryId: dogs })}`)).status, 204);
    assert.equal((await api.delete(`/categories/${await aCategory(api)}`)).status, 204);

    const webhook = { url: 'http://127.0.0.1:9/', types: ['pet.*'], enabled: false };
    assert.equal((await api.post('/webhooks', webhook)).status, 201);

    const used = await api.post('/keys', { name: 'Web', plan: 'business', scopes: ['admin'] });
    const rotated = await api.post(
      `/keys/${used.body.id}/rotate`,
      { graceSeconds: 3_600 },
      { 'idempotency-key': 'rotation' },
    );
    assert.equal(rotated.status, 200, rotated.text);
    const secrets = { admin, previous: used.body.key, current: rotated.body.key, banned: '' };
    await api.post('/keys', { name: 'Gone', plan: 'free', scopes: ['pets:read'] });
    assert.equal((await api.delete('/keys/3')).status, 204);
    const quotas = { perMinute: 100, perDay: 1 };
    const bannedKey = await api.post('/keys', {
      name: 'Rude',
      plan: 'enterprise',
      quotas,
      scopes: ['admin'],
    });
    secrets.banned = bannedKey.body.key;
    await ban(connect(secrets.banned), clock);
    return secrets;
  });
}

async function ban(client: Client, clock: TestClock): Promise<void> {
  assert.equal((await client.get('/pets')).status, 200);
  await client.get('/pets');
  clock.advance(2 * SECOND);
  let code = '';
  for (let i = 0; i < 10; i++) code = (await client.get('/pets')).body.code;
  assert.equal(code, 'api_key_banned');
}

/** IDs up to this one are requested for each kind; those of deleted resources are among them. */
const MAX_ID = 28;

/** Headers that differ between two requests for the same resource. */
const ownHeaders = ['date', 'x-request-id', 'connection', 'keep-alive'];

/** The responses of every GET operation: each list to its last page, and each resource by its ID. */
export async function everyResponse(api: Client): Promise<[path: string, response: Partial<ApiResponse>][]> {
  const responses: [string, Partial<ApiResponse>][] = [];
  const request = async (path: string) => {
    const { status, headers, text } = await api.get(path, { 'x-request-id': 'the-same' });
    const compared = Object.entries(headers).filter(([name]) => !ownHeaders.includes(name));
    responses.push([path, { status, headers: Object.fromEntries(compared), text }]);
    // The event log always has a next page; an empty page is the end for now.
    return text === '[]' ? undefined : headers.link;
  };
  for (const { method, path, success } of describedRoutes) {
    if (method !== 'GET' || success.mediaType === 'text/event-stream') continue;
    // It shows the counts that were stored last, which depends on the time.
    if (path === '/key-usage') continue;
    if (path.includes('{')) {
      for (let id = 1; id <= MAX_ID; id++) await request(path.replace(/\{\w+\}/, String(id)));
    } else {
      for (const first of path === '/pets' ? [path, '/pets?q=a+1&limit=3'] : [path]) {
        for (let next: string | undefined = first; next !== undefined; ) {
          next = /^<([^>]+)>; rel="next"$/.exec(String(await request(next)))?.[1];
        }
      }
    }
  }
  return responses;
}
