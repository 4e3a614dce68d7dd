import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventsAfter, settledCursor } from '../support/event-log.ts';
import { EventReader } from '../support/event-reader.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { WEBHOOK_SCOPES, webhookShop } from './webhook-shop.ts';

const TYPE = 'key.quota_reached';

type Keyed = Awaited<ReturnType<TestApp['clientWith']>>;

/** A key that was warned once. */
async function warnedKey(shop: TestApp, scopes: string[]): Promise<Keyed> {
  const quotas = { perMinute: 1_000, perDay: 1_000 };
  const client = await shop.clientWith({ plan: 'enterprise', scopes, quotas });
  // Of a few requests, one more can be 80 and 95 percent at once.
  for (let i = 0; i < 7; i++) await client.get('/pets');
  await warn(shop, client);
  return client;
}

/** Makes a key use 80 percent of another limit than before. */
async function warn(shop: TestApp, client: Keyed): Promise<void> {
  const used = (await shop.api.get(`/keys/${client.keyId}/usage`)).body.windows.day.used;
  const quotas = { perMinute: 1_000, perDay: Math.floor((used + 1) / 0.8) };
  await shop.api.patch(`/keys/${client.keyId}`, { quotas });
  await client.get('/pets');
  await shop.app.keyLimits.flush();
  await shop.api.patch(`/keys/${client.keyId}`, { quotas: { perMinute: 1_000, perDay: 1_000 } });
  await settledCursor(shop);
}

const subjectsOf = (events: readonly { type: string; subject: string }[]) =>
  new Set(events.filter(({ type }) => type === TYPE).map(({ subject }) => subject));

describe('warnings about a key', () => {
  it('are read by the key itself and by administrators, on pages, in streams and in the history', async t => {
    const shop = await startTestApp(t);
    const reading = ['events:read', 'pets:read'];
    const [one, other] = [await warnedKey(shop, reading), await warnedKey(shop, reading)];
    const admin = await shop.clientWith({ scopes: ['admin'] });
    const [ofOne, ofOther] = [`keys/${one.keyId}`, `keys/${other.keyId}`];
    const matrix: [Keyed, string[]][] = [
      [one, [ofOne]],
      [other, [ofOther]],
      [admin, [ofOne, ofOther]],
    ];
    for (const [reader, expected] of matrix) {
      for (const query of ['', `&type=${TYPE}`, `&type=${TYPE}&type=category.created`, '&actor=system']) {
        assert.deepEqual(subjectsOf(await eventsAfter(reader, 0, query)), new Set(expected), query);
        const { body, headers } = await reader.get(`/history?limit=100${query}`);
        assert.deepEqual(subjectsOf(body), new Set(expected), `${query} ${headers.link}`);
        const path = `/events/stream?cursor=0${query}`;
        const stream = await EventReader.open(shop.origin, reader.key, { path });
        await stream.untilEvents(expected.length);
        await stream.close();
        assert.deepEqual(subjectsOf(stream.events), new Set(expected), query);
      }
      for (const subject of [ofOne, ofOther]) {
        const response = await reader.get(`/events?subject=${subject}&limit=100`);
        if (expected.includes(subject)) assert.deepEqual(subjectsOf(response.body), new Set([subject]));
        else assertRejected(response, 403, 'insufficient_scope');
      }
    }
    const message = assertRejected(await one.get(`/events?type=key.*`), 403, 'insufficient_scope');
    assert.match(
      message,
      /: request other events, such as `key\.quota_reached` and `key\.expiring` about the key itself,/,
    );
    assertRejected(await one.get(`/events?subject=${ofOne}&type=key.updated`), 403, 'insufficient_scope');
    const counted = await one.get(`/events?type=${TYPE}&count=true`);
    assert.equal(counted.headers['x-total-count'], String(counted.body.length));
    assert.equal((await one.get('/events?actor=keys/1')).body.length, 0);
  });

  it('reach a stream that is up to date only if they are about its key', async t => {
    const shop = await startTestApp(t);
    const scopes = ['events:read', 'pets:read'];
    const [one, other] = [await warnedKey(shop, scopes), await warnedKey(shop, scopes)];
    const stream = await EventReader.open(shop.origin, other.key);
    for (const client of [one, other, one, other]) await warn(shop, client);
    await shop.api.post('/categories', { name: 'Last' });
    await stream.untilEvents(3);
    await stream.close();
    assert.deepEqual(
      stream.events.map(({ type, subject }) => `${type} ${subject}`),
      [...Array(2).fill(`${TYPE} keys/${other.keyId}`), 'category.created categories/1'],
    );
  });

  it('reach no stream of another key any more when that one loses `admin`', async t => {
    const shop = await startTestApp(t);
    const demoted = await shop.clientWith({ scopes: ['admin'] });
    const path = `/events/stream?type=${TYPE}`;
    const stream = await EventReader.open(shop.origin, demoted.key, { path });
    const scopes = ['events:read', 'pets:read'];
    await shop.api.patch(`/keys/${demoted.keyId}`, { scopes });
    await warnedKey(shop, scopes);
    await stream.until(() => stream.events.length > 0 || stream.isOver, 'a warning or the end');
    assert.deepEqual([stream.events, stream.isOver], [[], true]);
  });

  it('are sent to the webhooks of the key and of administrators, and no longer when the key of a webhook loses `admin`', async t => {
    const shop = await webhookShop(t, { receivers: 4 });
    const [owner, all, admin, former] = shop.receivers;
    const key = await warnedKey(shop.shop, WEBHOOK_SCOPES);
    const other = await warnedKey(shop.shop, WEBHOOK_SCOPES);
    const demoted = await shop.shop.clientWith({ scopes: ['admin'] });
    await shop.webhook({ types: [TYPE] }, owner, key);
    await shop.webhook({}, all, other);
    await shop.webhook({ types: [TYPE] }, admin);
    await shop.webhook({ types: [TYPE] }, former, demoted);
    await shop.settle();
    await warn(shop.shop, key);
    await warn(shop.shop, other);
    await shop.deliver();
    await shop.api.patch(`/keys/${demoted.keyId}`, { scopes: WEBHOOK_SCOPES });
    await warn(shop.shop, key);
    await shop.deliver();
    // Events with different subjects can arrive in another order.
    const received = shop.receivers.map(receiver =>
      receiver.received
        .filter(({ event }) => event.type === TYPE)
        .map(({ event }) => event.subject)
        .toSorted(),
    );
    const [ofKey, ofOther] = [`keys/${key.keyId}`, `keys/${other.keyId}`];
    assert.deepEqual(received, [[ofKey, ofKey], [ofOther], [ofKey, ofKey, ofOther], [ofKey, ofOther]]);
  });
});
