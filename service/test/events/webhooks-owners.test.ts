import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { formatDateTime } from '../../src/kit/dates.ts';
import { documentedOperations } from '../contract/document.ts';
import { assertRejected } from '../support/rejection.ts';
import { until } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';
import type { Receiver } from './receiver.ts';
import { anotherReplica, sendDue, WEBHOOK_SCOPES, type WebhookShop, webhookShop } from './webhook-shop.ts';

/** A webhook of a key without the scope `admin`, with one delivery. */
async function ownedWebhook(
  shop: WebhookShop,
  { expiresAt, receiver = shop.receiver }: { expiresAt?: string; receiver?: Receiver } = {},
) {
  const owner = await shop.shop.clientWith({ scopes: WEBHOOK_SCOPES, ...(expiresAt && { expiresAt }) });
  const webhook = await shop.webhook({}, receiver, owner);
  return { owner, keyPath: `/keys/${owner.keyId}`, ...webhook };
}

/** The fields of a webhook that show whether and why it is disabled. */
async function shownStop(shop: WebhookShop, path: string): Promise<unknown[]> {
  const { enabled, disabledReason, disabledAt } = await shop.read(path);
  return [enabled, disabledReason, disabledAt];
}

describe('a webhook', () => {
  const others: [method: string, path: string, body?: object][] = [
    ['GET', ''],
    ['PUT', '', { url: 'http://127.0.0.1/' }],
    ['PATCH', '', { enabled: false }],
    ['DELETE', ''],
    ['POST', '/rotate', {}],
    ['POST', '/test'],
    ['POST', '/replay', { cursor: '0' }],
    ['GET', '/deliveries'],
    ['GET', '/deliveries/{deliveryId}'],
    ['POST', '/deliveries/{deliveryId}/redeliver'],
  ];

  it('is tested here with every operation on one webhook', () => {
    const known = documentedOperations
      .filter(({ path }) => path.startsWith('/webhooks/{webhookId}'))
      .map(({ method, path }) => `${method} ${path.replace('/webhooks/{webhookId}', '')}`);
    assert.deepEqual(others.map(([method, path]) => `${method} ${path}`).toSorted(), known.toSorted());
  });

  it('is visible to its owner and to administrators, and does not exist for other keys', async t => {
    const shop = await webhookShop(t);
    const { id, path, owner } = await ownedWebhook(shop);
    await shop.webhook();
    await shop.deliver();
    const other = await shop.shop.clientWith({ scopes: WEBHOOK_SCOPES });
    for (const [method, end, body] of others) {
      const target = path + end.replace('{deliveryId}', '1');
      const response = await other.send(method, target, { body });
      assertRejected(response, 404, 'webhook_not_found', `There is no webhook ${id}`);
    }
    const idsOf = async (client: typeof other) =>
      (await client.get('/webhooks')).body.map((webhook: { id: number }) => webhook.id);
    assert.deepEqual(await idsOf(other), []);
    assert.deepEqual(await idsOf(owner), [id]);
    assert.deepEqual((await shop.read('/webhooks')).length, 2);
    assert.equal((await owner.get(`${path}/deliveries`)).body.length, 1);
    assert.equal((await owner.patch(path, { description: 'Mine' })).status, 200);
  });

  it('belongs to the key that created it, even after an administrator changes it', async t => {
    const shop = await webhookShop(t);
    const { path, owner } = await ownedWebhook(shop);
    const { body } = await shop.api.patch(path, { description: 'Changed', createdBy: 1 });
    assert.deepEqual([body.description, body.createdBy], ['Changed', owner.keyId]);
    await shop.api.post(`${path}/rotate`, {});
    await shop.api.post(`${path}/test`);
    await shop.settle();
    assert.equal(shop.receiver.received[0]!.event.data.createdBy, owner.keyId);
    assert.equal((await owner.get(path)).status, 200);
  });
});

describe('a webhook whose key', () => {
  type Change = (shop: WebhookShop, keyPath: string) => Promise<unknown>;
  const left =
    (scopes: string[]): Change =>
    (shop, keyPath) =>
      shop.api.patch(keyPath, { scopes });
  const losses: [change: Change, reason: string][] = [
    [(shop, keyPath) => shop.api.delete(keyPath), 'was revoked'],
    [left(['events:read', 'pets:read']), 'lacks the scope `webhooks:write`'],
    [left(['webhooks:write']), 'lacks the scope `events:read`'],
    [left(['pets:read']), 'lacks the scopes `webhooks:write` and `events:read`'],
  ];

  it('is revoked or loses a scope is disabled at once, shows why, and gets nothing more from any replica', async t => {
    const shop = await webhookShop(t, { receivers: losses.length });
    const webhooks = [];
    for (const [i, [change, reason]] of losses.entries()) {
      const receiver = shop.receivers[i]!;
      receiver.respondWith(500);
      webhooks.push({ ...(await ownedWebhook(shop, { receiver })), receiver, change, reason });
    }
    await shop.deliver();
    for (const { receiver } of webhooks) assert.equal(receiver.received.length, 1);
    shop.clock.advance(SECOND);
    // Only another replica sends from now on: one transaction changes the key and disables the webhook.
    await shop.shop.app.dispatcher.close();
    for (const { change, reason, keyPath, path, id, owner } of webhooks) {
      await change(shop, keyPath);
      const row = await shop.shop.app.db.get('SELECT enabled, disabled_reason FROM webhooks WHERE id = ?', [
        id,
      ]);
      const disabled_reason = `API key ${owner.keyId} ${reason}`;
      assert.deepEqual(row, { enabled: 0, disabled_reason });
      assert.deepEqual(await shownStop(shop, path), [
        false,
        disabled_reason,
        formatDateTime(shop.clock.now()),
      ]);
      assertRejected(await shop.api.post(`${path}/test`), 409, 'webhook_disabled');
    }
    await shop.category();
    await shop.shop.app.db.numberEvents();
    // The deliveries that wait for their next attempt are due, too.
    shop.clock.advance(5 * MINUTE);
    const replica = await anotherReplica(shop.shop);
    await sendDue(replica);
    await replica.close();
    for (const { receiver } of webhooks) assert.equal(receiver.received.length, 1);
  });

  it('is revoked is not disabled when it was deleted before', async t => {
    const shop = await webhookShop(t);
    const { owner, keyPath, path } = await ownedWebhook(shop);
    const { id } = await shop.webhook({}, shop.receiver, owner);
    await shop.api.delete(path);
    await shop.api.delete(keyPath);
    await shop.shop.app.db.numberEvents();
    const disabled = await shop.read('/history?type=webhook.disabled');
    assert.deepEqual(valuesOf(disabled, 'subject'), [`webhooks/${id}`]);
  });

  it('expires is disabled at that instant, shows why, and gets nothing more', async t => {
    const shop = await webhookShop(t);
    const expiresAt = formatDateTime(shop.clock.now() + HOUR);
    const { id, path } = await ownedWebhook(shop, { expiresAt });
    shop.receiver.respondWith(500);
    await shop.deliver();
    shop.clock.advance(HOUR);
    const stopped = [false, `API key 2 expired at ${expiresAt}`, expiresAt];
    assert.deepEqual(await shownStop(shop, path), stopped);
    assert.equal((await shop.read('/webhooks'))[0].enabled, false);
    assertRejected(await shop.api.post(`${path}/test`), 409, 'webhook_disabled');
    await shop.deliver();
    assert.equal(shop.receiver.received.length, 1);
    assert.deepEqual(await shownStop(shop, path), stopped);
    const row = await shop.shop.app.db.get('SELECT enabled FROM webhooks WHERE id = ?', [id]);
    assert.deepEqual(row, { enabled: 0 });
    const logged = shop.shop.logLines().find(({ msg }) => msg === 'Webhook disabled');
    assert.deepEqual([logged?.webhookId, logged?.reason], [id, stopped[1]]);
  });

  it('expires leaves one webhook.disabled, also if a client disables the webhook at that instant', async t => {
    const shop = await webhookShop(t);
    const expiresAt = formatDateTime(shop.clock.now() + HOUR);
    const { id, path, keyPath } = await ownedWebhook(shop, { expiresAt });
    shop.clock.advance(HOUR);
    assert.equal((await shop.api.patch(path, { enabled: false })).status, 200);
    assert.equal((await shop.api.patch(keyPath, { expiresAt: null })).status, 200);
    await shop.deliver();
    assert.equal((await shop.api.get(path)).body.enabled, false);
    const history = await shop.read(`/history?subject=webhooks/${id}&type=webhook.disabled`);
    assert.deepEqual(valuesOf(history, 'reason'), [`API key 2 expired at ${expiresAt}`]);
  });

  it('gets another plan, name or more scopes continues', async t => {
    const shop = await webhookShop(t);
    const { path, keyPath } = await ownedWebhook(shop);
    for (const change of [{ plan: 'free' }, { name: 'Renamed' }, { scopes: ['admin'] }])
      assert.equal((await shop.api.patch(keyPath, change)).status, 200);
    await shop.deliver();
    assert.ok(shop.receiver.receivedEvents.includes('categories/1 category.created'));
    assert.deepEqual(await shownStop(shop, path), [true, null, null]);
  });

  it('lacks a scope cannot be enabled; when the key works again it can, and continues where it stopped', async t => {
    const shop = await webhookShop(t);
    const { path, keyPath, owner } = await ownedWebhook(shop);
    await shop.api.patch(keyPath, { scopes: ['webhooks:write'] });
    await shop.deliver();
    for (const response of [
      await shop.api.patch(path, { enabled: true }),
      await shop.api.put(path, { url: shop.receiver.url }),
    ]) {
      const message = assertRejected(response, 409, 'webhook_key_unfit');
      assert.match(
        message,
        /^Webhook 101 cannot be enabled, because API key 2 lacks the scope `events:read`/,
      );
    }
    assert.equal((await shop.api.patch(path, { description: 'Stopped' })).status, 200);
    await shop.api.patch(keyPath, { scopes: WEBHOOK_SCOPES });
    await shop.settle();
    assert.deepEqual(shop.receiver.receivedEvents, []);
    const { body } = await owner.patch(path, { enabled: true });
    assert.deepEqual([body.enabled, body.disabledReason, body.disabledAt], [true, null, null]);
    await shop.settle();
    assert.deepEqual(shop.receiver.receivedEvents, ['categories/1 category.created']);
  });

  it('is revoked during an attempt has that attempt aborted, and the delivery stays', async t => {
    const shop = await webhookShop(t);
    const { path, keyPath } = await ownedWebhook(shop);
    shop.receiver.hold();
    await shop.category();
    await shop.receiver.has(1);
    assert.equal((await shop.api.delete(keyPath)).status, 204);
    // The event of the revocation wakes the dispatcher, which otherwise looks every second.
    await until('the attempt is aborted', () => shop.receiver.open === 0);
    const pending = async () => (await shop.read(`${path}/deliveries`))[0];
    await until('the lease is released', async () => (await pending()).nextAttemptAt !== null);
    const { status, attemptCount } = await pending();
    assert.deepEqual([status, attemptCount], ['pending', 0]);
    shop.receiver.release();
    await shop.after(MINUTE);
    assert.equal(shop.receiver.received.length, 1);
  });

  it('is revoked leaves pending deliveries, which end after as many days as events are retained, and are deleted as many days later', async t => {
    const shop = await webhookShop(t, { environment: { PETSTORE_EVENT_DAYS: '2' } });
    const { path, keyPath } = await ownedWebhook(shop);
    shop.receiver.respondWith(500);
    const categoryId = await shop.deliver();
    await shop.rename(categoryId, 'Waits for the first');
    await shop.settle();
    assert.equal((await shop.api.delete(keyPath)).status, 204);
    const statusesAfter = async (days: number) => {
      shop.clock.advance(days * DAY);
      await shop.shop.app.sweeper.run();
      return valuesOf(await shop.read(`${path}/deliveries`), 'status');
    };
    assert.deepEqual(await statusesAfter(2), ['pending', 'pending']);
    assert.deepEqual(await statusesAfter(1), ['dead', 'dead']);
    assert.deepEqual(await statusesAfter(3), []);
  });
});
