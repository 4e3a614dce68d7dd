import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { formatDateTime } from '../../src/kit/dates.ts';
import { settledCursor } from '../support/event-log.ts';
import { EventReader } from '../support/event-reader.ts';
import { aCategory } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { WEBHOOK_SCOPES, type WebhookShop, webhookShop } from './webhook-shop.ts';

/** The scopes of a key that reads the events of categories. */
const READER = ['events:read', 'pets:read'];

type KeyClient = Awaited<ReturnType<TestApp['clientWith']>>;

/** Creates an event of an API key, which only administrators may read. */
async function aKeyEvent({ shop }: WebhookShop): Promise<void> {
  await shop.clientWith({ scopes: ['pets:read'] });
}

const keyEventsOf = ({ receiver }: WebhookShop) =>
  receiver.receivedEvents.filter(event => event.includes(' key.'));

describe('a webhook whose key is no longer an administrator’s', () => {
  type Webhook = { path: string; url: string };
  const changes: [
    what: string,
    change: (owner: KeyClient, webhook: Webhook) => Promise<{ status: number }>,
  ][] = [
    ['rotates its secret', (owner, { path }) => owner.post(`${path}/rotate`, { graceSeconds: 60 })],
    ['changes its description', (owner, { path }) => owner.patch(path, { description: 'Mine' })],
    ['replaces it', (owner, { path, url }) => owner.put(path, { url })],
    ['moves it to another URL', (owner, { path, url }) => owner.patch(path, { url: `${url}/moved` })],
    ['replays the log', (owner, { path }) => owner.post(`${path}/replay`, { cursor: '0' })],
    ['tests it', (owner, { path }) => owner.post(`${path}/test`)],
    [
      'disables and enables it',
      async (owner, { path }) => {
        await owner.patch(path, { enabled: false });
        return owner.patch(path, { enabled: true });
      },
    ],
  ];
  for (const [what, change] of changes) {
    it(`gets no event of a key after its key ${what}`, async t => {
      const shop = await webhookShop(t);
      const owner = await shop.shop.clientWith({ scopes: ['admin'] });
      const { path } = await shop.webhook({}, shop.receiver, owner);
      await aKeyEvent(shop);
      await shop.settle();
      assert.equal(keyEventsOf(shop).length, 1);
      await shop.api.patch(`/keys/${owner.keyId}`, { scopes: WEBHOOK_SCOPES });
      const { status } = await change(owner, { path, url: shop.receiver.url });
      assert.ok(status < 300, String(status));
      await aKeyEvent(shop);
      await shop.category();
      await shop.settle();
      await shop.after(5 * MINUTE);
      assert.equal(keyEventsOf(shop).length, 1);
      assert.ok(
        shop.receiver.receivedEvents.includes('categories/1 category.created'),
        'It gets other events',
      );
      // Its list of deliveries also shows only the one that was sent before.
      const deliveries: { type: string }[] = await shop.read(`${path}/deliveries?limit=100`);
      assert.equal(deliveries.filter(({ type }) => type.startsWith('key.')).length, 1);
    });
  }

  const ends: [what: string, end: (shop: WebhookShop, owner: KeyClient) => Promise<unknown>][] = [
    ['is revoked', (shop, { keyId }) => shop.api.delete(`/keys/${keyId}`)],
    ['expires', async shop => shop.clock.advance(DAY)],
    ['loses `admin`', (shop, { keyId }) => shop.api.patch(`/keys/${keyId}`, { scopes: WEBHOOK_SCOPES })],
    [
      'loses all scopes of webhooks',
      (shop, { keyId }) => shop.api.patch(`/keys/${keyId}`, { scopes: ['pets:read'] }),
    ],
  ];
  for (const [what, end] of ends) {
    it(`gets no event of a key after its key ${what}: no new event and no repeated attempt`, async t => {
      const shop = await webhookShop(t);
      const expiresAt = formatDateTime(shop.clock.now() + DAY);
      const owner = await shop.shop.clientWith({ scopes: ['admin'], expiresAt });
      await shop.webhook({}, shop.receiver, owner);
      shop.receiver.respondWith(500);
      await aKeyEvent(shop);
      await shop.settle();
      assert.equal(keyEventsOf(shop).length, 1);
      await end(shop, owner);
      shop.receiver.respondWith(204);
      await aKeyEvent(shop);
      // Longer than the pause before each remaining attempt.
      for (const pause of [0, 5 * SECOND, 5 * MINUTE, HOUR, DAY]) await shop.after(pause);
      assert.equal(keyEventsOf(shop).length, 1);
    });
  }
});

describe('a long poll', () => {
  const ends: [
    what: string,
    scopes: string[],
    end: (shop: TestApp, client: KeyClient) => Promise<unknown>,
    code?: 'insufficient_scope',
  ][] = [
    ['is revoked', READER, ({ api }, { keyId }) => api.delete(`/keys/${keyId}`)],
    ['expires', READER, async ({ clock }) => clock.advance(HOUR)],
    [
      'is rotated without a grace',
      READER,
      ({ api }, { keyId }) => api.post(`/keys/${keyId}/rotate`, { graceSeconds: 0 }),
    ],
    [
      'loses `events:read`',
      ['events:read', 'pets:read'],
      ({ api }, { keyId }) => api.patch(`/keys/${keyId}`, { scopes: ['pets:read'] }),
      'insufficient_scope',
    ],
    [
      'loses `admin`, and keeps `events:read` alone,',
      ['admin'],
      ({ api }, { keyId }) => api.patch(`/keys/${keyId}`, { scopes: ['events:read'] }),
      'insufficient_scope',
    ],
    ['is revoked as an administrator’s', ['admin'], ({ api }, { keyId }) => api.delete(`/keys/${keyId}`)],
  ];
  for (const [what, scopes, end, code] of ends) {
    it(`returns no event when its key ${what} in the meantime`, async t => {
      const shop = await startTestApp(t);
      const expiresAt = formatDateTime(shop.clock.now() + HOUR);
      const client = await shop.clientWith({ scopes, expiresAt });
      await settledCursor(shop);
      const all = t.mock.method(shop.app.db, 'all');
      const hasLooked = () => all.mock.calls.some(call => call.arguments[0]?.includes('events'));
      const waiting = client.get('/events?cursor=latest&wait=30');
      await until('the poll has searched for events', hasLooked);
      await end(shop, client);
      await aCategory(shop.api);
      assertRejected(await waiting, code ? 403 : 401, code ?? 'invalid_api_key');
    });
  }
});

describe('a stream', () => {
  const ends: [what: string, end: (shop: TestApp, client: KeyClient) => Promise<unknown>][] = [
    ['expires', async ({ clock }) => clock.advance(HOUR)],
    [
      'is rotated without a grace',
      ({ api }, { keyId }) => api.post(`/keys/${keyId}/rotate`, { graceSeconds: 0 }),
    ],
    [
      'is rotated, and its grace ends',
      async ({ api, clock }, { keyId }) => {
        await api.post(`/keys/${keyId}/rotate`, { graceSeconds: 60 });
        clock.advance(MINUTE);
      },
    ],
  ];
  for (const [what, end] of ends) {
    it(`ends when its key ${what}, and sends no later event`, async t => {
      const shop = await startTestApp(t);
      const expiresAt = formatDateTime(shop.clock.now() + HOUR);
      const client = await shop.clientWith({ scopes: READER, expiresAt });
      await settledCursor(shop);
      const reader = await EventReader.open(shop.origin, client.key);
      await aCategory(shop.api);
      await reader.untilEvents(1);
      await end(shop, client);
      await reader.untilOver();
      assert.deepEqual(reader.comments, ['The API key may no longer read these events']);
      await aCategory(shop.api);
      assert.equal(reader.events.length, 1);
    });
  }
});
