import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import type { ApiResponse } from '../support/client.ts';
import { valuesOf } from '../support/values.ts';
import { anotherReplica, sendDue, WEBHOOK_SCOPES, type WebhookShop, webhookShop } from './webhook-shop.ts';

/** Where the secrets were found. */
const source = '.env: TOKEN="…"';

function report({ api }: WebhookShop, ...keys: string[]): Promise<ApiResponse> {
  return api.as().post('/keys/revoke-leaked', { keys, source });
}

function typesAt(shop: WebhookShop, receiver = 0): string[] {
  return shop.receivers[receiver]!.received.map(({ event }) => event.type);
}

async function isStored(shop: WebhookShop, id: number): Promise<boolean> {
  const row = await shop.shop.app.db.get<{ enabled: number }>('SELECT enabled FROM webhooks WHERE id = ?', [
    id,
  ]);
  return row!.enabled === 1;
}

/** A webhook whose key was reported as leaked, and whose endpoint failed at the first attempt to send this. */
async function aFailedLeak(t: TestContext) {
  const shop = await webhookShop(t);
  const owner = await shop.shop.clientWith({ scopes: WEBHOOK_SCOPES });
  const webhook = await shop.webhook({}, shop.receiver, owner);
  shop.receiver.respondWith(500);
  await report(shop, owner.key);
  await shop.settle();
  return { shop, owner, ...webhook };
}

describe('the webhooks of a leaked key', () => {
  it('receive the leak as it is in the log, whatever their types are, nothing after it, and then stop', async t => {
    const environment = { PETSTORE_PUBLIC_URL: 'https://shop.example' };
    const shop = await webhookShop(t, { receivers: 3, environment });
    const owner = await shop.shop.clientWith({ scopes: WEBHOOK_SCOPES });
    const orders = await shop.webhook({ types: ['order.*'] }, shop.receivers[0], owner);
    const all = await shop.webhook({}, shop.receivers[1], owner);
    const administrator = await shop.webhook({ types: ['key.*'] }, shop.receivers[2]);
    await shop.settle();
    assert.equal((await report(shop, owner.key)).status, 200);
    await shop.category();
    for (const { path } of [orders, all]) {
      const { enabled, disabledReason } = await shop.read(path);
      assert.deepEqual([enabled, disabledReason], [false, `API key ${owner.keyId} was revoked`]);
    }
    await shop.settle();
    assert.deepEqual(typesAt(shop, 0), ['key.leaked']);
    assert.deepEqual(typesAt(shop, 1), ['key.leaked']);
    assert.deepEqual(typesAt(shop, 2).slice(-2), ['key.leaked', 'key.revoked']);
    assert.deepEqual(shop.receivers[0]!.received[0]!.event.data, {
      keyId: owner.keyId,
      name: 'Test client',
      ended: 'key',
      address: '127.0.0.1',
      source,
    });
    const { text } = await shop.api.get('/events?type=key.leaked');
    assert.equal(text, `[${shop.receivers[0]!.received[0]!.text}]`);
    assert.deepEqual([await isStored(shop, orders.id), await isStored(shop, all.id)], [false, false]);
    assert.equal(await isStored(shop, administrator.id), true);
    await shop.after(HOUR);
    assert.equal(shop.receivers[1]!.received.length, 1);
    const { body } = await shop.api.get(`/history?subject=webhooks/${all.id}&type=webhook.disabled`);
    assert.equal(body[0].reason, `API key ${owner.keyId} was revoked`);
  });

  it('of an administrator receive it once, before earlier events of the key that failed', async t => {
    const shop = await webhookShop(t);
    const owner = await shop.shop.clientWith({});
    const { id } = await shop.webhook({}, shop.receiver, owner);
    await shop.settle();
    shop.receiver.received.length = 0;
    shop.receiver.respondWith(500);
    await shop.api.patch(`/keys/${owner.keyId}`, { name: 'Renamed' });
    await shop.settle();
    assert.deepEqual(typesAt(shop), ['key.updated']);
    shop.receiver.respondWith(204);
    await report(shop, owner.key);
    await shop.settle();
    assert.deepEqual(typesAt(shop), ['key.updated', 'key.leaked']);
    assert.equal(await isStored(shop, id), false);
  });

  it('are tried again for an hour, by any replica', async t => {
    const shop = await webhookShop(t, { receivers: 2 });
    const [failing, recovering] = shop.receivers as [typeof shop.receiver, typeof shop.receiver];
    const owner = await shop.shop.clientWith({ scopes: WEBHOOK_SCOPES });
    const lost = await shop.webhook({}, failing, owner);
    const kept = await shop.webhook({}, recovering, owner);
    for (const receiver of shop.receivers) receiver.respondWith(500);
    await report(shop, owner.key);
    await shop.settle();
    assert.deepEqual([failing.received.length, recovering.received.length], [1, 1]);
    await shop.shop.app.dispatcher.close();
    const other = await anotherReplica(shop.shop);
    recovering.respondWith(204);
    shop.clock.advance(5 * SECOND);
    await sendDue(other);
    assert.deepEqual([failing.received.length, recovering.received.length], [2, 2]);
    assert.deepEqual([await isStored(shop, lost.id), await isStored(shop, kept.id)], [true, false]);
    shop.clock.advance(HOUR);
    await sendDue(other);
    assert.equal(await isStored(shop, lost.id), false);
    assert.equal(failing.received.length, 2, 'nothing after an hour');
    await other.close();
  });

  it('still receive the leak and then stop, if a client changes their settings before', async t => {
    const { shop, owner, id, path } = await aFailedLeak(t);
    const { status, body } = await shop.api.patch(path, { description: 'Changed', enabled: false });
    assert.deepEqual([status, body.description, body.enabled], [200, 'Changed', false]);
    shop.receiver.respondWith(204);
    await shop.after(5 * SECOND);
    assert.deepEqual(typesAt(shop), ['key.leaked', 'key.leaked']);
    await shop.settle();
    const history = await shop.read(`/history?subject=webhooks/${id}&type=webhook.disabled`);
    assert.deepEqual(valuesOf(history, 'reason'), [`API key ${owner.keyId} was revoked`]);
  });

  it('can be deleted with the ETag of their disabled state before they stop', async t => {
    const { shop, id, path } = await aFailedLeak(t);
    assert.equal(await isStored(shop, id), true);
    const { headers } = await shop.api.get(path);
    const deleted = await shop.api.delete(path, { 'if-match': headers.etag! });
    assert.equal(deleted.status, 204, deleted.text);
  });

  it('receive the leak although a replica whose clock ran ahead had leased it', async t => {
    const { shop } = await aFailedLeak(t);
    shop.receiver.respondWith(204);
    const late = shop.clock.now() + 400 * DAY;
    await shop.shop.app.db.run('UPDATE webhook_deliveries SET leased_until = ?, next_attempt_at = ?', [
      late,
      late,
    ]);
    await shop.settle();
    assert.deepEqual(typesAt(shop), ['key.leaked', 'key.leaked']);
  });

  it('plan nothing and send nothing else, even in a transaction that was requested before', async t => {
    const shop = await webhookShop(t);
    const owner = await shop.shop.clientWith({ scopes: WEBHOOK_SCOPES });
    const { id } = await shop.webhook({}, shop.receiver, owner);
    shop.receiver.respondWith(500);
    await shop.deliver();
    await shop.shop.app.dispatcher.close();
    await report(shop, owner.key);
    await shop.category();
    shop.clock.advance(5 * SECOND);
    const { db } = shop.shop.app;
    await db.numberEvents();
    const request = { ended: [], plans: true, connections: 8, limit: 8, most: 8, own: 0 };
    const served = await shop.serve(id, request, owner.keyId);
    assert.ok(served !== 'locked');
    assert.deepEqual(
      served.claimed.map(({ delivery }) => delivery.type),
      ['key.leaked'],
    );
    const planned = await db.all<{ type: string }>('SELECT type FROM webhook_deliveries ORDER BY id');
    assert.deepEqual(valuesOf(planned, 'type'), ['category.created', 'key.leaked']);
  });

  it('that keeps working, because leaks are only reported, receive it and continue', async t => {
    const shop = await webhookShop(t, { environment: { PETSTORE_LEAKED_KEYS: 'report' } });
    const owner = await shop.shop.clientWith({ scopes: WEBHOOK_SCOPES });
    await shop.webhook({ types: ['category.*'] }, shop.receiver, owner);
    await report(shop, owner.key);
    await shop.settle();
    await shop.deliver();
    assert.deepEqual(typesAt(shop), ['key.leaked', 'category.created']);
  });

  it('that keeps working receive earlier events of the key that failed before it', async t => {
    const shop = await webhookShop(t);
    const owner = await shop.shop.clientWith({});
    await shop.webhook({ types: ['key.updated'] }, shop.receiver, owner);
    await shop.settle();
    shop.receiver.respondWith(500);
    await shop.api.patch(`/keys/${owner.keyId}`, { name: 'Renamed' });
    await shop.settle();
    await shop.api.post(`/keys/${owner.keyId}/rotate`, { graceSeconds: 60 });
    await report(shop, owner.key);
    shop.receiver.respondWith(204);
    await shop.after(5 * SECOND);
    assert.deepEqual(typesAt(shop), ['key.updated', 'key.updated', 'key.leaked']);
  });

  it('that keeps working, because only an earlier secret has leaked, receive it once and continue', async t => {
    const shop = await webhookShop(t, { receivers: 2 });
    const owner = await shop.shop.clientWith({ scopes: WEBHOOK_SCOPES });
    const administrator = await shop.shop.clientWith({});
    await shop.webhook({ types: ['category.*'] }, shop.receivers[0], owner);
    await shop.webhook({ types: ['key.leaked', 'category.*'] }, shop.receivers[1], administrator);
    for (const { key, keyId } of [owner, administrator]) {
      await shop.api.post(`/keys/${keyId}/rotate`, { graceSeconds: 60 });
      await report(shop, key);
    }
    await shop.settle();
    await shop.category();
    await shop.after(MINUTE);
    assert.deepEqual(typesAt(shop, 0), ['key.leaked', 'category.created']);
    assert.deepEqual(typesAt(shop, 1).toSorted(), ['category.created', 'key.leaked', 'key.leaked']);
  });
});
