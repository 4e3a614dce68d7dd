import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HOUR, MINUTE } from '../../src/kit/clock.ts';
import { formatDateTime } from '../../src/kit/dates.ts';
import { settledCursor } from '../support/event-log.ts';
import { EventReader } from '../support/event-reader.ts';
import { aCategory } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import type { TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { useShop } from '../support/use-shop.ts';
import type { Receiver } from './receiver.ts';
import { WEBHOOK_SCOPES, type WebhookShop, webhookShop } from './webhook-shop.ts';

/** The scopes of a key that reads the events of categories. */
const READER = ['events:read', 'pets:read'];

type KeyClient = Awaited<ReturnType<TestApp['clientWith']>>;

/** Creates an event of an API key, which only administrators may read. */
async function aKeyEvent({ shop }: WebhookShop): Promise<string> {
  const { keyId } = await shop.clientWith({ scopes: ['pets:read'] });
  return `keys/${keyId} key.created`;
}

const keyEventsOf = (receiver: Receiver) =>
  receiver.receivedEvents.filter(event => event.includes(' key.')).length;

it('a webhook whose key is no longer an administrator’s gets no event of a key, whatever its key changes in the webhook', async t => {
  const shop = await webhookShop(t);
  const owner = await shop.shop.clientWith({ scopes: ['admin'] });
  const { path } = await shop.webhook({}, shop.receiver, owner);
  await aKeyEvent(shop);
  await shop.settle();
  assert.equal(keyEventsOf(shop.receiver), 1);
  await shop.api.patch(`/keys/${owner.keyId}`, { scopes: WEBHOOK_SCOPES });
  const { url } = shop.receiver;
  for (const [method, target, body] of [
    ['POST', '/rotate', { graceSeconds: 60 }],
    ['PATCH', '', { description: 'Mine' }],
    ['PUT', '', { url }],
    ['PATCH', '', { url: `${url}/moved` }],
    ['POST', '/replay', { cursor: '0' }],
    ['POST', '/test', undefined],
    ['PATCH', '', { enabled: false }],
    ['PATCH', '', { enabled: true }],
  ] as const) {
    const { status, text } = await owner.send(method, path + target, { body });
    assert.ok(status < 300, text);
    await aKeyEvent(shop);
    const categoryId = await shop.deliver();
    await shop.after(5 * MINUTE);
    assert.equal(keyEventsOf(shop.receiver), 1, `after ${method} ${target}`);
    const received = shop.receiver.receivedEvents.includes(`categories/${categoryId} category.created`);
    assert.equal(
      received,
      body === undefined || !('enabled' in body) || body.enabled,
      'it gets other events',
    );
  }
  // Its list of deliveries also shows only the one that was sent before.
  const deliveries: { type: string }[] = await shop.read(`${path}/deliveries?limit=100`);
  assert.equal(deliveries.filter(({ type }) => type.startsWith('key.')).length, 1);
});

describe('a key that reads events', () => {
  const shop = useShop({ heartbeat: MINUTE });

  const rotated: End = ({ api }, { keyId }) => api.post(`/keys/${keyId}/rotate`, { graceSeconds: 0 });
  const expired: End = async ({ clock }) => clock.advance(HOUR);
  const revoked: End = ({ api }, { keyId }) => api.delete(`/keys/${keyId}`);
  const left =
    (scopes: string[]): End =>
    ({ api }, { keyId }) =>
      api.patch(`/keys/${keyId}`, { scopes });

  /** A client whose key expires in an hour, when the log is settled. */
  async function aReader(scopes: string[]): Promise<KeyClient> {
    const client = await shop.clientWith({ scopes, expiresAt: formatDateTime(shop.clock.now() + HOUR) });
    await settledCursor(shop);
    return client;
  }

  const ofPolls: [what: string, scopes: string[], end: End, code: string][] = [
    ['is revoked', READER, revoked, 'invalid_api_key'],
    ['expires', READER, expired, 'invalid_api_key'],
    ['is rotated without a grace', READER, rotated, 'invalid_api_key'],
    ['loses `events:read`', READER, left(['pets:read']), 'insufficient_scope'],
    ['loses `admin`, and keeps `events:read` alone,', ['admin'], left(['events:read']), 'insufficient_scope'],
    ['is revoked as an administrator’s', ['admin'], revoked, 'invalid_api_key'],
  ];
  for (const [what, scopes, end, code] of ofPolls) {
    it(`and ${what} in the meantime gets no event from its long poll`, async t => {
      const client = await aReader(scopes);
      const all = t.mock.method(shop.app.db, 'all');
      const hasLooked = () => all.mock.calls.some(call => call.arguments[0]?.includes('events'));
      const waiting = client.get('/events?cursor=latest&wait=30');
      await until('the poll has searched for events', hasLooked);
      await end(shop, client);
      await aCategory(shop.api);
      assertRejected(await waiting, code === 'insufficient_scope' ? 403 : 401, code);
    });
  }

  const ofStreams: [what: string, end: End][] = [
    ['expires', expired],
    ['is rotated without a grace', rotated],
    [
      'is rotated, and its grace ends',
      async ({ api, clock }, { keyId }) => {
        await api.post(`/keys/${keyId}/rotate`, { graceSeconds: 60 });
        clock.advance(MINUTE);
      },
    ],
  ];
  for (const [what, end] of ofStreams) {
    it(`and ${what} loses its stream, which sends no later event`, async () => {
      const client = await aReader(READER);
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

type End = (shop: TestApp, client: KeyClient) => Promise<unknown>;
