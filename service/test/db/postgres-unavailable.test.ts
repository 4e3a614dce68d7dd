import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { SECOND } from '../../src/kit/clock.ts';
import type { ApiResponse } from '../support/client.ts';
import { startTestApp } from '../support/test-app.ts';
import { blockConnections, newDatabase } from '../support/test-store.ts';

/** A shop on PostgreSQL, whichever store the suite runs on, whose server can be taken away. */
async function aShop(t: TestContext) {
  const { name, url, drop } = await newDatabase();
  const shop = await startTestApp(t, { environment: { DATABASE_URL: url } });
  t.after(drop);
  assert.equal((await shop.api.post('/categories', { name: 'Dogs' })).status, 201);
  return { ...shop, takeAway: () => blockConnections(name) };
}

function assertUnavailable({ status, body, headers }: ApiResponse): void {
  assert.deepEqual([status, body.code], [503, 'service_unavailable']);
  assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
  for (const name of ['limit', 'remaining', 'reset'])
    assert.match(String(headers[`x-ratelimit-${name}`]), /^\d+$/);
}

describe('while the database server is away', () => {
  it('reads, writes and readiness answer 503 with all headers; afterwards all works by itself', async t => {
    const { api, takeAway } = await aShop(t);
    const comeBack = await takeAway();
    const rejected = [
      await api.get('/categories/1'),
      await api.post('/categories', { name: 'Cats' }),
      await api.get('/readyz'),
    ];
    const alive = await api.get('/healthz');
    await comeBack();
    rejected.forEach(assertUnavailable);
    assert.equal(alive.status, 200);
    assert.equal((await api.post('/categories', { name: 'Cats' })).status, 201);
    assert.deepEqual((await api.get('/categories')).body.length, 2);
    assert.equal((await api.get('/readyz')).status, 200);
  });

  it('a key that has to be looked up is neither accepted nor rejected', async t => {
    const { api, clock, takeAway } = await aShop(t);
    clock.turn(2 * SECOND);
    const comeBack = await takeAway();
    const rejected = await api.get('/categories/1');
    await comeBack();
    assertUnavailable(rejected);
    assert.equal((await api.get('/categories/1')).status, 200);
  });

  it('requests on their way at once are all answered', async t => {
    const { api, takeAway } = await aShop(t);
    const asked = Array.from({ length: 40 }, (_, i) => api.post('/categories', { name: `Category ${i}` }));
    const comeBack = await takeAway();
    const responses = await Promise.all(asked);
    await comeBack();
    for (const response of responses) if (response.status !== 201) assertUnavailable(response);
    const kept = (await api.get('/categories?limit=100')).body.length - 1;
    const acknowledged = responses.filter(({ status }) => status === 201).length;
    assert.ok(kept >= acknowledged, `${kept} kept, ${acknowledged} acknowledged`);
  });
});
