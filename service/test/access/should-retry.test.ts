import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lockOfPet } from '../../src/catalog/pets/pet-queries.ts';
import { DatabaseUnavailable } from '../../src/db/database.ts';
import { DAY, SECOND } from '../../src/kit/clock.ts';
import type { ApiResponse } from '../support/client.ts';
import { EventReader } from '../support/event-reader.ts';
import { anOrder, aPet } from '../support/factories.ts';
import { holdLocks } from '../support/hold-writes.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';
import { provokeBan, usedUp } from './provoke-ban.ts';

const shop = useShop();

/** The headers with which a response states whether and when to send the request again. */
function retryIn({ headers }: ApiResponse): [shouldRetry: unknown, retryAfter: unknown] {
  return [headers['x-should-retry'], headers['retry-after']];
}

describe('X-Should-Retry', () => {
  it('is true on a 429 that ends within a minute, and false on a longer one', async t => {
    const shop = await startTestApp(t);
    const client = await usedUp(shop);
    for (const [now, shouldRetry, retryAfter] of [
      ['12:00:30', 'false', '43170'],
      ['23:58:59', 'false', '61'],
      ['23:59:00', 'true', '60'],
      ['23:59:59', 'true', '1'],
    ]) {
      // A day for each time, so that the requests are not enough for a ban.
      shop.clock.advance(DAY);
      const day = new Date(shop.clock.now()).toISOString().slice(0, 10);
      shop.clock.set(`${day}T${now}Z`);
      assert.equal((await client.get('/pets')).status, 200);
      const response = await client.get('/pets');
      assertRejected(response, 429, 'rate_limit_exceeded');
      assert.deepEqual(retryIn(response), [shouldRetry, retryAfter]);
    }
  });

  it('is false during a ban, even when little of it is left', async () => {
    const client = await shop.clientWith({ plan: 'enterprise', quotas: { perMinute: 1, perDay: 100 } });
    assert.equal((await client.get('/pets')).status, 200);
    assert.deepEqual(retryIn(await provokeBan(shop, client)), ['false', '60']);
    shop.clock.advance(59 * SECOND);
    const response = await client.get('/pets');
    assertRejected(response, 429, 'api_key_banned');
    assert.deepEqual(retryIn(response), ['false', '1']);
  });

  it('is true on the 429 of a key with too many streams', async t => {
    const shop = await startTestApp(t, { environment: { PETSTORE_STREAMS_PER_KEY: '1' } });
    const reader = await EventReader.open(shop.origin, shop.adminKey);
    const response = await shop.api.get('/events/stream');
    await reader.close();
    assertRejected(response, 429, 'too_many_streams');
    assert.deepEqual(retryIn(response), ['true', '5']);
  });

  it('is true while the first request with an Idempotency-Key is running', async () => {
    const { api, app } = shop;
    const petId = await aPet(api);
    const release = await holdLocks(app.db, tx => tx.lock(lockOfPet(petId)));
    const order = () => api.post('/store/orders', { petId }, { 'idempotency-key': 'sale-1' });
    const both = [order(), order()];
    // The other one waits for the transaction.
    const rejected = await Promise.race(both).finally(release);
    assertRejected(rejected, 409, 'idempotency_key_in_use');
    assert.deepEqual(retryIn(rejected), ['true', undefined]);
    assert.deepEqual((await Promise.all(both)).map(({ status }) => status).toSorted(), [201, 409]);
  });

  it('is false on the 503 to a POST without Idempotency-Key that may have been executed, and true on other 503s', async t => {
    const { api, app } = shop;
    const petId = await aPet(api);
    const place = (headers = {}) => api.post('/store/orders', { petId }, headers);
    const rename = () => api.patch(`/pets/${petId}`, { name: 'Rex' });
    for (const [what, send, expected] of [
      ['unknown', place, 'false'],
      ['unknown', () => place({ 'idempotency-key': 'sale-2' }), 'true'],
      ['unknown', rename, 'true'],
      ['busy', place, 'true'],
    ] as const) {
      t.mock.method(app.db, 'write', () => Promise.reject(new DatabaseUnavailable(undefined, what)));
      const response = await send();
      t.mock.restoreAll();
      assertRejected(response, 503, 'service_unavailable');
      assert.deepEqual(retryIn(response), [expected, '1'], response.text);
    }
  });

  it('is on no other response', async t => {
    const shop = await startTestApp(t);
    const { api } = shop;
    const reader = await shop.clientWith({ scopes: ['orders:read'] });
    const petId = await aPet(api);
    await anOrder(api, { petId });
    const etag = { 'if-match': '"other"' };
    const responses: [expected: number, response: ApiResponse][] = [
      [200, await api.get('/pets')],
      [400, await api.get('/pets?limit=0')],
      [401, await api.as().get('/pets')],
      [403, await reader.get('/pets')],
      [404, await api.get('/pets/99')],
      [405, await api.delete('/pets')],
      [409, await api.post('/store/orders', { petId })],
      [412, await api.patch(`/pets/${petId}`, { name: 'Rex' }, etag)],
      [422, await api.post('/pets', { name: 'Rex', categoryId: 99 })],
    ];
    for (const [expected, response] of responses) {
      assert.equal(response.status, expected, response.text);
      assert.deepEqual(retryIn(response), [undefined, undefined], response.text);
    }
  });
});
