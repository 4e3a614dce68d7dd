import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { formatDateTime } from '../../src/kit/dates.ts';
import { anOrder, aPet } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { valuesOf } from '../support/values.ts';
import type { Receiver } from './receiver.ts';
import { type WebhookShop, webhookShop } from './webhook-shop.ts';

const SENDER = ['webhooks:write', 'events:read'];

/** A webhook of a key with the scopes for webhooks and these. */
async function ownedWebhook(
  shop: WebhookShop,
  scopes: string[],
  { receiver = shop.receiver, ...settings }: { types?: string[]; receiver?: Receiver } = {},
) {
  const owner = await shop.shop.clientWith({ scopes: [...SENDER, ...scopes] });
  const { path } = await shop.webhook(settings, receiver, owner);
  const setScopes = (scopes: string[]) => shop.api.patch(`/keys/${owner.keyId}`, { scopes });
  return { owner, path, setScopes: (scopes: string[]) => setScopes([...SENDER, ...scopes]) };
}

/** Changes every kind of resource of the shop, and the keys. */
async function changeAll({ api, shop }: WebhookShop): Promise<void> {
  await shop.clientWith({});
  await anOrder(api, { petId: await aPet(api, { stock: 5 }) });
}

const kindsSent = (receiver: Receiver) =>
  new Set(receiver.receivedEvents.map(event => event.split(' ')[1]!.split('.')[0]));

it('a webhook receives nothing of what a test key changes', async t => {
  const shop = await webhookShop(t);
  await shop.webhook();
  const tester = await shop.shop.clientWith({ kind: 'test', plan: 'free', scopes: ['pets:write'] });
  await shop.settle();
  const before = shop.receiver.received.length;
  assert.equal((await tester.post('/categories', { name: 'Only tried' })).status, 201);
  const { body } = await shop.api.post('/categories', { name: 'Stored' });
  await shop.settle();
  assert.deepEqual(shop.receiver.receivedEvents.slice(before), [`categories/${body.id} category.created`]);
});

describe('a webhook without `types`', () => {
  const sets: [scopes: string[], kinds: string[]][] = [
    [['pets:read'], ['pet', 'category']],
    [['orders:read'], ['order']],
    [['inventory:read'], ['inventory']],
    [
      ['pets:read', 'inventory:read'],
      ['pet', 'category', 'inventory'],
    ],
  ];
  it('gets the events that its key may read, also in a replay', async t => {
    const shop = await webhookShop(t, { receivers: sets.length });
    const webhooks = [];
    for (const [i, [scopes, kinds]] of sets.entries()) {
      const receiver = shop.receivers[i]!;
      webhooks.push({ ...(await ownedWebhook(shop, scopes, { receiver })), receiver, kinds });
    }
    await changeAll(shop);
    await shop.settle();
    for (const { owner, path, receiver, kinds } of webhooks) {
      assert.deepEqual(kindsSent(receiver), new Set(kinds));
      const sent = receiver.received.length;
      assert.equal((await owner.post(`${path}/replay`, { cursor: '0' })).status, 200);
      await shop.settle();
      assert.deepEqual(kindsSent(receiver), new Set(kinds));
      assert.equal(receiver.received.length, 2 * sent);
      const { body } = await owner.get(`${path}/deliveries?limit=100`);
      assert.equal(body.length, 2 * sent);
      assert.equal((await shop.read(path)).enabled, true);
    }
  });

  it('continues with the rest when its key loses some scopes: planned and repeated deliveries are not sent', async t => {
    const shop = await webhookShop(t);
    const { owner, path, setScopes } = await ownedWebhook(shop, ['pets:read', 'orders:read']);
    shop.receiver.respondWith(500);
    await anOrder(shop.api, {});
    await shop.settle();
    assert.deepEqual(shop.receiver.receivedEvents, ['store/orders/1 order.placed']);
    await setScopes(['pets:read']);
    shop.receiver.respondWith(204);
    for (const pause of [0, 5 * SECOND, 5 * MINUTE, HOUR, DAY]) await shop.after(pause);
    await anOrder(shop.api, {});
    await shop.deliver();
    const other = ['categories/1 category.created'];
    assert.deepEqual(shop.receiver.receivedEvents.slice(1), other);
    const [ofOrder, ...rest] = await shop.deliveries(path);
    assert.equal(ofOrder.status, 'dead');
    assert.equal(
      ofOrder.attempts.at(-1).error,
      'Not sent: the API key that created the webhook lacks the scope `orders:read` for events `order.placed`',
    );
    assert.deepEqual(valuesOf(rest, 'type'), ['category.created']);

    // Neither its owner nor an administrator can have the event sent again.
    for (const client of [owner, shop.api]) {
      const message = assertRejected(
        await client.post(`${path}/deliveries/${ofOrder.id}/redeliver`),
        409,
        'webhook_key_unfit',
      );
      assert.equal(
        message,
        `Delivery ${ofOrder.id} cannot be sent, because the API key that created the webhook lacks the scope \`orders:read\` ` +
          'for events `order.placed`: have an administrator change API key 2',
      );
    }
    assert.equal((await owner.post(`${path}/replay`, { cursor: '0' })).status, 200);
    await shop.settle();
    assert.deepEqual(new Set(shop.receiver.receivedEvents.slice(1)), new Set(other));
    assert.deepEqual([(await shop.read(path)).enabled, (await shop.read(path)).disabledReason], [true, null]);

    // With the scope again it gets later events, and earlier ones by a redelivery.
    await setScopes(['pets:read', 'orders:read']);
    const sent = shop.receiver.received.length;
    await shop.api.post(`${path}/deliveries/${ofOrder.id}/redeliver`);
    await shop.settle();
    await anOrder(shop.api, {});
    await shop.settle();
    assert.deepEqual(shop.receiver.receivedEvents.slice(sent), [
      'store/orders/1 order.placed',
      'store/orders/3 order.placed',
    ]);
  });

  it('stops when its key can read nothing any more', async t => {
    const shop = await webhookShop(t);
    const { path, setScopes } = await ownedWebhook(shop, ['pets:read']);
    await setScopes(['orders:write']);
    const reason = 'API key 2 has none of the scopes `pets:read`, `orders:read` and `inventory:read`';
    const rows = await shop.shop.app.db.all('SELECT enabled, disabled_reason FROM webhooks');
    assert.deepEqual(rows, [{ enabled: 0, disabled_reason: reason }]);
    await changeAll(shop);
    await shop.settle();
    assert.deepEqual(shop.receiver.receivedEvents, []);
    assertRejected(await shop.api.post(`${path}/test`), 409, 'webhook_disabled');
  });
});

describe('a webhook with `types`', () => {
  it('needs the scopes of all of them, when it is created or changed, by its owner or an administrator', async t => {
    const shop = await webhookShop(t);
    const { url } = shop.receiver;
    const { owner, path } = await ownedWebhook(shop, ['pets:read'], { types: ['category.*'] });
    for (const [types, scopes, examples] of [
      [['order.*'], 'scope `orders:read`', '`order.placed`'],
      [['pet.*', 'inventory.updated'], 'scope `inventory:read`', '`inventory.updated`'],
      [['pet.*', 'key.revoked'], 'scope `admin`', '`key.revoked`'],
      [
        ['inventory.*', 'order.completed', 'category.*'],
        'scopes `inventory:read` and `orders:read`',
        '`inventory.updated` and `order.completed`',
      ],
    ] as const) {
      for (const response of [
        await owner.post('/webhooks', { url, types }),
        await owner.patch(path, { types }),
        await owner.put(path, { url, types }),
        await shop.api.patch(path, { types }),
      ]) {
        assert.equal(
          assertRejected(response, 403, 'insufficient_scope'),
          `API key 2, to which the webhook belongs, lacks the ${scopes} for events ${examples}: leave these types out, or ask an ` +
            'administrator to change the key',
        );
      }
    }
    assert.deepEqual((await shop.read(path)).types, ['category.*']);
    assert.equal((await owner.patch(path, { types: ['pet.deleted'] })).status, 200);
    assert.equal((await shop.read('/webhooks')).length, 1);
  });

  it('stops when its key loses a scope that one of them needs, and names the scope; others of the key continue', async t => {
    const shop = await webhookShop(t, { receivers: 2 });
    const { owner, path, setScopes } = await ownedWebhook(
      shop,
      ['pets:read', 'orders:read', 'inventory:read'],
      {
        types: ['pet.*', 'order.*', 'inventory.updated'],
      },
    );
    const pets = await shop.webhook({ types: ['pet.*'] }, shop.receivers[1], owner);
    await setScopes(['pets:read']);
    const reason =
      'API key 2 lacks the scopes `orders:read` and `inventory:read` for events `order.placed` and `inventory.updated`';
    // The transaction that changes the key stops the webhook.
    const rows = await shop.shop.app.db.all('SELECT enabled, disabled_reason FROM webhooks ORDER BY id');
    assert.deepEqual(rows, [
      { enabled: 0, disabled_reason: reason },
      { enabled: 1, disabled_reason: null },
    ]);
    const { enabled, disabledReason, disabledAt } = await shop.read(path);
    assert.deepEqual(
      [enabled, disabledReason, disabledAt],
      [false, reason, formatDateTime(shop.clock.now())],
    );
    await changeAll(shop);
    await shop.settle();
    assert.equal(shop.receiver.received.length, 0);
    assert.deepEqual(
      new Set(shop.receivers[1]!.receivedEvents.map(event => event.split(' ')[0])),
      new Set(['pets/1']),
    );
    assert.equal((await shop.read(pets.path)).enabled, true);

    // It can be enabled with the scopes, or with fewer types.
    const message = assertRejected(await owner.patch(path, { enabled: true }), 409, 'webhook_key_unfit');
    assert.ok(message.startsWith(`Webhook 101 cannot be enabled, because ${reason} and `), message);
    assert.equal((await owner.patch(path, { description: 'Stopped' })).body.enabled, false);
    assert.equal((await owner.patch(path, { types: ['pet.*'], enabled: true })).body.enabled, true);
    await shop.settle();
    assert.ok(shop.receiver.receivedEvents.includes('pets/1 pet.created'));
  });

  it('that lost its rights before the service started is shown as stopped, and stopped in the first check', async t => {
    const shop = await webhookShop(t);
    const { path } = await ownedWebhook(shop, ['pets:read', 'orders:read'], { types: ['order.*'] });
    const scopes = [...SENDER, 'pets:read'];
    await shop.shop.app.db.run('UPDATE api_keys SET scopes = ? WHERE id = 2', [scopes.join(' ')]);
    const reason = 'API key 2 lacks the scope `orders:read` for events `order.placed`';
    assert.equal((await shop.read('/webhooks'))[0].disabledReason, reason);
    assert.equal((await shop.read(path)).disabledReason, reason);
    await anOrder(shop.api, {});
    await shop.settle();
    assert.deepEqual(shop.receiver.receivedEvents, []);
    const row = await shop.shop.app.db.get('SELECT enabled, disabled_reason FROM webhooks');
    assert.deepEqual(row, { enabled: 0, disabled_reason: reason });
    const logged = shop.shop.logLines().find(({ msg }) => msg === 'Webhook disabled');
    assert.deepEqual([logged?.webhookId, logged?.reason], [101, reason]);
  });
});
