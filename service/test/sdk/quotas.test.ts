import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { UsedQuota } from '../../../sdk/src/index.ts';
import { DAY } from '../../src/kit/clock.ts';
import { importClient } from '../support/packed-client.ts';
import { startTestApp } from '../support/test-app.ts';
import { valuesOf } from '../support/values.ts';
import { clientOf, json } from './fake-service.ts';

const { PetStore } = await importClient();

it('`onQuota` receives each part of its day that a key has used, once a day', async t => {
  // `fetch` keeps its connections.
  const shop = await startTestApp(t, { alone: false });
  t.mock.timers.enable({ apis: ['Date'], now: shop.clock.now() });
  const quotas = { perMinute: 1_000, perDay: 20 };
  const { key } = await shop.clientWith({ plan: 'enterprise', scopes: ['pets:read'], quotas });
  const reported: string[] = [];
  const onQuota = ({ window, percent, limit }: UsedQuota) =>
    reported.push(`${sent} ${window} ${percent} of ${limit}`);
  const store = new PetStore({ baseUrl: shop.origin, apiKey: key, onQuota });
  let sent = 0;
  for (; sent < 20; sent++) await store.pets.list().first();
  // The call counts after its response.
  assert.deepEqual(reported, ['15 day 80 of 20', '18 day 95 of 20', '19 day 100 of 20']);
});

it('`onQuota` gets the end of the day, and each window again on the next day', async t => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-11-21T23:00:00Z') });
  const reported: UsedQuota[] = [];
  const header = { value: '"day";p=80;q=1000;t=3600, "minute";p=100;q=60;t=3600' };
  const { store, run } = clientOf(() => json(200, [], { 'x-quota-warning': header.value })(), {
    onQuota: quota => reported.push(quota),
  });
  await run(store.pets.list().first());
  header.value = header.value.replaceAll('3600', '3590');
  await run(store.pets.list().first());
  assert.deepEqual(valuesOf(reported, 'window', 'percent', 'limit'), [
    ['day', 80, 1_000],
    ['minute', 100, 60],
  ]);
  assert.equal(reported[0]!.resetAt.toISOString(), '2026-11-22T00:00:00.000Z');
  header.value = `"day";p=80;q=1000;t=${3_600 + DAY / 1000}`;
  await run(store.pets.list().first());
  assert.equal(reported.length, 3);
});

it('a client without `onQuota` ignores the header', async () => {
  const { store, run } = clientOf(json(200, [], { 'x-quota-warning': '"day";p=100;q=1;t=1, ?' }));
  assert.deepEqual(await run(store.pets.list().toArray({ limit: 1 })), []);
});
