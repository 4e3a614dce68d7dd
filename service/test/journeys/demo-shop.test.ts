import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fillEmptyStore } from '../../src/demo/demo-shop.ts';
import { DAY } from '../../src/kit/clock.ts';
import type { Client } from '../support/client.ts';
import { aCategory } from '../support/factories.ts';
import { itemsOf } from '../support/pages.ts';
import { startTestApp } from '../support/test-app.ts';
import { valuesOf } from '../support/values.ts';

describe('the demo shop', () => {
  it('has a month of history, with the times and the people of its changes', async t => {
    const { app, api, clock } = await startTestApp(t);
    const now = clock.now();
    assert.equal(await fillEmptyStore(app.db, now), true);
    assert.equal(await fillEmptyStore(app.db, now), false, 'only once');
    await app.db.numberEvents();
    await app.keyLimits.load(now);
    // The first event is that of the administrator's key, which is made before.
    const history = (await itemsOf(api, '/history?limit=100')).toReversed().slice(1);
    const times = history.map(({ time }) => Date.parse(time));
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    assert.ok(times[0]! > now - 30 * DAY && times.at(-1)! < now);
    const of = (type: string) => history.filter(entry => entry.type === type);
    const days = new Set(of('order.placed').map(({ time }) => time.slice(0, 10)));
    assert.ok(days.size > 20, `orders on ${days.size} days`);
    const restocks = of('inventory.updated').filter(({ reason }) => reason === 'received');
    assert.deepEqual(
      new Set(restocks.map(({ actorName }) => actorName)),
      new Set(['Anna (till)', 'Ben (warehouse)']),
    );
    const open = await itemsOf(api, '/store/orders?complete=false&limit=100');
    const overdue = open.filter(({ shipDate }) => shipDate && Date.parse(shipDate) < now - DAY);
    assert.equal(overdue.length, 1);
    const keys = (await api.get('/keys?limit=100')).body;
    const banned = keys.filter(({ ban }: { ban: unknown }) => ban);
    assert.deepEqual(valuesOf(banned, 'name', 'ban'), [
      ['Price comparison', of('key.banned')[0].changes.length > 0 && banned[0].ban],
    ]);
    assert.deepEqual(
      keys.map(({ scopes }: { scopes: string[] }) => scopes.includes('admin')),
      [true, false, false, false, false],
    );
    const { days: used } = (await api.get(`/keys/${banned[0].id}/usage`)).body;
    assert.equal(used.length, 30);
    const [webhook] = (await api.get('/webhooks')).body;
    assert.match(webhook.url, /\.invalid\//);
    assert.equal(webhook.enabled, false);
  });

  for (const [shop, begin] of [
    [
      'whose categories were all deleted',
      async (api: Client) => api.delete(`/categories/${await aCategory(api)}`),
    ],
    [
      'that has only keys so far',
      (api: Client) => api.post('/keys', { name: 'Till', plan: 'free', scopes: ['pets:read'] }),
    ],
  ] as const)
    it(`is not added to a shop ${shop}`, async t => {
      const { app, api, clock } = await startTestApp(t);
      assert.ok((await begin(api)).status < 300);
      await app.db.numberEvents();
      assert.equal(await fillEmptyStore(app.db, clock.now()), false);
    });

  it('gets an administrator’s key also if it was in the store before', async t => {
    const { app, clock } = await startTestApp(t);
    await app.db.write(tx => tx.run('DELETE FROM api_keys'));
    await fillEmptyStore(app.db, clock.now());
    const create = () => app.createFirstKey(() => {});
    assert.deepEqual([await create(), await create()], [true, false]);
  });
});
