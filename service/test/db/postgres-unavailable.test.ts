import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { SECOND } from '../../src/kit/clock.ts';
import type { ApiResponse } from '../support/client.ts';
import { startTestApp } from '../support/test-app.ts';
import { blockConnections, newDatabase } from '../support/test-store.ts';

/** A shop on PostgreSQL, independent of the store that the suite runs on, whose server can become unavailable. */
async function aShop(t: TestContext) {
  const { name, url, drop } = await newDatabase();
  const shop = await startTestApp(t, { environment: { DATABASE_URL: url } });
  t.after(drop);
  assert.equal((await shop.api.post('/categories', { name: 'Dogs' })).status, 201);
  return { ...shop, makeUnavailable: () => blockConnections(name) };
}

function assertUnavailable({ status, body, headers }: ApiResponse): void {
  assert.deepEqual([status, body.code], [503, 'service_unavailable']);
  assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
  for (const name of ['limit', 'remaining', 'reset'])
    assert.match(String(headers[`x-ratelimit-${name}`]), /^\d+$/);
}

describe('while the database server is unavailable', () => {
  it('reads, writes and readiness get 503 with all headers; they recover by themselves', async t => {
    const { api, makeUnavailable } = await aShop(t);
    const restore = await makeUnavailable();
    const rejected = [
      await api.get('/categories/1'),
      await api.post('/categories', { name: 'Cats' }),
      await api.get('/readyz'),
    ];
    const health = await api.get('/healthz');
    await restore();
    rejected.forEach(assertUnavailable);
    assert.equal(health.status, 200);
    assert.equal((await api.post('/categories', { name: 'Cats' })).status, 201);
    assert.deepEqual((await api.get('/categories')).body.length, 2);
    assert.equal((await api.get('/readyz')).status, 200);
  });

  it('a key that is not in memory gets 503, not 401', async t => {
    const { api, clock, makeUnavailable } = await aShop(t);
    clock.advance(2 * SECOND);
    const restore = await makeUnavailable();
    const rejected = await api.get('/categories/1');
    await restore();
    assertUnavailable(rejected);
    assert.equal((await api.get('/categories/1')).status, 200);
  });

  it('all requests in progress get a response', async t => {
    const { api, makeUnavailable } = await aShop(t);
    const requests = Array.from({ length: 40 }, (_, i) => api.post('/categories', { name: `Category ${i}` }));
    const restore = await makeUnavailable();
    const responses = await Promise.all(requests);
    await restore();
    for (const response of responses) if (response.status !== 201) assertUnavailable(response);
    const stored = (await api.get('/categories?limit=100')).body.length - 1;
    const acknowledged = responses.filter(({ status }) => status === 201).length;
    assert.ok(stored >= acknowledged, `${stored} stored, ${acknowledged} acknowledged`);
  });
});
