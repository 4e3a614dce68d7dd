import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY, MINUTE } from '../../src/kit/clock.ts';
import type { Client } from '../support/client.ts';
import { eventsAfter, settledCursor } from '../support/event-log.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';
import { valuesOf } from '../support/values.ts';
import { eachNoon } from './each-noon.ts';

const shop = useShop();
const { at } = eachNoon(shop);

/** A key with these quotas, and `read`, which sends requests. */
async function keyWith(quotas: { perMinute: number; perDay: number }, of: TestApp = shop) {
  const client = await of.clientWith({ plan: 'enterprise', scopes: ['pets:read', 'events:read'], quotas });
  return { ...client, read: (count: number, api = of.api) => read(api.as(client.key), count) };
}

async function read(client: Client, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await client.get('/pets?limit=1');
}

/** The warnings about a key in the log, such as `day 80 of 100`. */
async function warningsOf(keyId: number, from: Pick<TestApp, 'app' | 'api'> = shop): Promise<string[]> {
  await from.app.keyLimits.flush();
  await settledCursor(from);
  const events = await eventsAfter(from.api, 0, '&type=key.quota_reached');
  return events
    .filter(({ subject }) => subject === `keys/${keyId}`)
    .map(({ data }) => {
      const { window, percent, limit } = data as { window: string; percent: number; limit: number };
      return `${window} ${percent} of ${limit}`;
    });
}

describe('a key that uses up its day', () => {
  it('is warned at 80, 95 and 100 percent, not before, and once each', async () => {
    const { keyId, read } = await keyWith({ perMinute: 1_000, perDay: 100 });
    const found: Record<number, string[]> = {};
    let used = 0;
    for (const count of [79, 80, 81, 94, 95, 99, 100, 105]) {
      await read(count - used);
      used = count;
      found[count] = await warningsOf(keyId);
    }
    const [first, second, third] = ['day 80 of 100', 'day 95 of 100', 'day 100 of 100'] as const;
    assert.deepEqual(found, {
      79: [],
      80: [first],
      81: [first],
      94: [first],
      95: [first, second],
      99: [first, second],
      100: [first, second, third],
      105: [first, second, third],
    });
  });

  it('gets an event with its use and the end of the day, and reads what it was warned of in its account', async () => {
    const client = await keyWith({ perMinute: 1_000, perDay: 10 });
    await client.read(8);
    shop.clock.advance(MINUTE);
    await warningsOf(client.keyId);
    const mine = shop.api.as(client.key);
    const { body } = await mine.get(`/events?subject=keys/${client.keyId}`);
    const midnight = new Date(Math.ceil(shop.clock.now() / DAY) * DAY).toISOString();
    const [event] = body;
    assert.deepEqual(
      [event.type, event.actor, event.data],
      [
        'key.quota_reached',
        'system',
        {
          ...{ keyId: client.keyId, name: 'Test client', window: 'day', percent: 80 },
          ...{ limit: 10, used: 8, resetAt: midnight },
        },
      ],
    );
    const { warnings } = (await mine.get('/account')).body;
    const warning = { window: 'day', percent: 80, limit: 10, passedAt: at('12:00:00.000') };
    assert.deepEqual(warnings, { quota: [warning], expiry: [] });
    assert.deepEqual((await shop.api.get(`/keys/${client.keyId}/usage`)).body.warnings, warnings);
    await client.read(2);
    await warningsOf(client.keyId);
    const { quota } = (await mine.get('/account')).body.warnings;
    assert.deepEqual(valuesOf(quota, 'percent'), [80, 95, 100], 'the earliest first');
    shop.clock.advance(DAY);
    assert.deepEqual((await mine.get('/account')).body.warnings.quota, []);
  });

  it('is warned of a day that has ended before its counts were stored, and again on the next day', async () => {
    const { keyId, read } = await keyWith({ perMinute: 1_000, perDay: 5 });
    shop.clock.advance(DAY / 2 - 1);
    await read(4);
    shop.clock.advance(1);
    await read(1);
    assert.deepEqual(await warningsOf(keyId), ['day 80 of 5']);
    await read(4);
    assert.deepEqual(await warningsOf(keyId), [
      ...['day 80 of 5', 'day 80 of 5', 'day 95 of 5', 'day 100 of 5'],
    ]);
  });

  it('is warned again after a reset of its counts and with another limit, and not when a limit returns', async () => {
    const { keyId, read } = await keyWith({ perMinute: 1_000, perDay: 10 });
    const quotas = (perDay: number) =>
      shop.api.patch(`/keys/${keyId}`, { quotas: { perMinute: 1_000, perDay } });
    await read(8);
    assert.deepEqual(await warningsOf(keyId), ['day 80 of 10']);
    await quotas(20);
    await read(8);
    assert.deepEqual((await warningsOf(keyId)).slice(1), ['day 80 of 20']);
    await quotas(10);
    await read(1);
    assert.deepEqual((await warningsOf(keyId)).slice(2), ['day 95 of 10', 'day 100 of 10']);
    await quotas(20);
    await read(1);
    assert.deepEqual((await warningsOf(keyId)).slice(4), [], 'at 85 percent of 20');
    await shop.api.delete(`/keys/${keyId}/limits`);
    await read(16);
    assert.deepEqual((await warningsOf(keyId)).slice(4), ['day 80 of 20']);
  });

  it('reads when it was warned, also if its counts were reset before they were stored', async () => {
    const { key, keyId, read } = await keyWith({ perMinute: 1_000, perDay: 5 });
    await read(4);
    shop.clock.advance(MINUTE);
    await shop.api.delete(`/keys/${keyId}/limits`);
    await read(1);
    assert.deepEqual(await warningsOf(keyId), ['day 80 of 5']);
    const { quota } = (await shop.api.as(key).get('/account')).body.warnings;
    assert.deepEqual(valuesOf(quota, 'passedAt'), [at('12:00:00.000')]);
  });

  it('gets all warnings that a batch passes at once', async () => {
    const client = await shop.clientWith({ plan: 'enterprise', quotas: { perMinute: 1_000, perDay: 20 } });
    const operations = Array.from({ length: 20 }, (_, i) => ({
      ...{ method: 'POST', path: '/categories' },
      body: { name: `Warned ${i}` },
    }));
    const { status, headers } = await client.post('/batch', { operations });
    assert.equal(status, 200);
    assert.match(String(headers['x-quota-warning']), /^"day";p=100;q=20;t=43200$/);
    assert.deepEqual(await warningsOf(client.keyId), ['day 80 of 20', 'day 95 of 20', 'day 100 of 20']);
  });

  it('finds the warnings in a header of each response, also of rejected requests', async () => {
    const { key, read } = await keyWith({ perMinute: 1_000, perDay: 10 });
    const client = shop.api.as(key);
    const header = async () => (await client.get('/pets?limit=1')).headers['x-quota-warning'];
    await read(6);
    assert.equal(await header(), undefined, 'after 7 of 10');
    shop.clock.advance(DAY / 2 - 90_001);
    assert.deepEqual([await header(), await header()], ['"day";p=80;q=10;t=91', '"day";p=80;q=10;t=91']);
    const batch = await client.post('/batch', {
      operations: Array(2).fill({ method: 'DELETE', path: '/pets/1' }),
    });
    assert.deepEqual([batch.status, batch.headers['x-quota-warning']], [429, '"day";p=80;q=10;t=91']);
    assert.deepEqual([await header(), await header()], ['"day";p=100;q=10;t=91', '"day";p=100;q=10;t=91']);
    assert.equal((await client.get('/account')).headers['x-quota-warning'], undefined, 'counts elsewhere');
  });
});

describe('a key that uses up its minutes', () => {
  /** Uses up those minutes of the next ones whose letter is `x`. */
  async function useMinutes(client: { read: (count: number) => Promise<void> }, minutes: string) {
    for (const minute of minutes) {
      await client.read(minute === 'x' ? 3 : 1);
      shop.clock.advance(MINUTE);
    }
  }

  it('is warned when five of ten are used up, and no more on that day', async () => {
    const client = await keyWith({ perMinute: 2, perDay: 10_000 });
    await useMinutes(client, 'xxxx......xxxx');
    assert.deepEqual(await warningsOf(client.keyId), [], 'four of any ten');
    assert.equal((await shop.api.as(client.key).get('/pets')).headers['x-quota-warning'], undefined);
    await useMinutes(client, 'x');
    assert.deepEqual(await warningsOf(client.keyId), ['minute 100 of 2']);
    const { headers } = await shop.api.as(client.key).get('/pets');
    assert.match(String(headers['x-quota-warning']), /^"minute";p=100;q=2;t=\d+$/);
    await useMinutes(client, 'xxxxxxxxxxxxxxxxxxxx');
    assert.deepEqual(await warningsOf(client.keyId), ['minute 100 of 2']);
    shop.clock.advance(DAY);
    const nextDay = await shop.api.as(client.key).get('/pets');
    assert.equal(nextDay.headers['x-quota-warning'], undefined);
    await useMinutes(client, 'xxxx');
    assert.equal((await warningsOf(client.keyId)).length, 1);
    await useMinutes(client, 'x');
    assert.equal((await warningsOf(client.keyId)).length, 2);
  });

  it('finds the warnings of both windows in one header when it uses up its day as well', async () => {
    const client = await keyWith({ perMinute: 2, perDay: 10 });
    await useMinutes(client, 'xxxxx');
    const { headers } = await shop.api.as(client.key).get('/pets');
    assert.equal(headers['x-quota-warning'], '"day";p=100;q=10;t=42900, "minute";p=100;q=2;t=42900');
  });

  it('is warned also if these minutes have passed before their counts are stored', async () => {
    const client = await keyWith({ perMinute: 2, perDay: 10_000 });
    await useMinutes(client, 'x.x.x.x.x............');
    assert.deepEqual(await warningsOf(client.keyId), ['minute 100 of 2']);
  });

  it('is warned also if their day has ended before their counts are stored', async () => {
    const client = await keyWith({ perMinute: 2, perDay: 10_000 });
    shop.clock.advance(DAY / 2 - 6 * MINUTE);
    await useMinutes(client, 'xxxxx.');
    await client.read(1);
    assert.deepEqual(await warningsOf(client.keyId), ['minute 100 of 2']);
  });

  it('is warned also if a sweep runs between these minutes, just after midnight', async () => {
    const client = await keyWith({ perMinute: 2, perDay: 10_000 });
    shop.clock.advance(DAY / 2 - 4 * MINUTE);
    await useMinutes(client, 'xxxx');
    assert.deepEqual(await warningsOf(client.keyId), []);
    await shop.app.keyLimits.sweep(shop.clock.now());
    await useMinutes(client, 'x');
    assert.deepEqual(await warningsOf(client.keyId), ['minute 100 of 2']);
  });

  it('is not warned of minutes of earlier days when it has another limit', async () => {
    const client = await keyWith({ perMinute: 2, perDay: 10_000 });
    await useMinutes(client, 'xxxxx');
    assert.deepEqual(await warningsOf(client.keyId), ['minute 100 of 2']);
    shop.clock.advance(2 * DAY);
    await shop.api.patch(`/keys/${client.keyId}`, { quotas: { perMinute: 3, perDay: 10_000 } });
    await client.read(1);
    assert.deepEqual(await warningsOf(client.keyId), ['minute 100 of 2']);
  });

  it('is warned of the limit that it used up, and not of one that it gets afterwards and does not use up', async () => {
    const client = await keyWith({ perMinute: 2, perDay: 10_000 });
    await useMinutes(client, 'xxxxx');
    await shop.api.patch(`/keys/${client.keyId}`, { quotas: { perMinute: 3, perDay: 10_000 } });
    const { headers } = await shop.api.as(client.key).get('/pets');
    assert.equal(headers['x-quota-warning'], undefined);
    assert.deepEqual(await warningsOf(client.keyId), ['minute 100 of 2']);
    await client.read(2);
    assert.deepEqual(await warningsOf(client.keyId), ['minute 100 of 2', 'minute 100 of 3']);
  });

  it('keeps them over restarts, and sweeps just after midnight', async t => {
    const first = await startTestApp(t);
    first.clock.advance(DAY / 2 - 4 * MINUTE);
    const { key, keyId } = await first.clientWith({
      plan: 'enterprise',
      scopes: ['pets:read'],
      quotas: { perMinute: 2, perDay: 100 },
    });
    let running = first;
    for (let minute = 0; minute < 5; minute++) {
      await read(running.api.as(key), 2);
      if (minute < 4) assert.deepEqual(await warningsOf(keyId, running), []);
      if (minute < 4) running.clock.advance(MINUTE);
      await running.app.keyLimits.sweep(running.clock.now());
      running = await running.restart();
    }
    assert.deepEqual(await warningsOf(keyId, running), ['minute 100 of 2']);
    const { headers } = await running.api.as(key).get('/pets');
    assert.match(String(headers['x-quota-warning']), /^"minute";p=100;q=2;/);
  });
});
