import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { readCloudEvent } from '../../../clients/testers/cloud-event.ts';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { TestClock } from '../support/test-clock.ts';
import { webhookShop } from './webhook-shop.ts';

describe('a webhook', () => {
  it('gets each event as it is in the log, with the headers of Standard Webhooks', async t => {
    const shop = await webhookShop(t);
    const { id } = await shop.webhook();
    await shop.deliver();
    const [event] = await shop.read('/events?type=category.*');
    const [{ method, path, headers, text }] = shop.receiver.received as [(typeof shop.receiver.received)[0]];
    assert.deepEqual([method, path], ['POST', '/hook']);
    assert.equal(text, JSON.stringify(event));
    assert.equal(headers['content-type'], 'application/cloudevents+json');
    assert.equal(headers['user-agent'], 'petstore-webhooks/1');
    assert.equal(headers['webhook-id'], `msg_${id}_${event.id}`);
    assert.equal(headers['webhook-timestamp'], String(Date.parse('2026-11-21T12:00:00Z') / 1_000));
    assert.match(headers['webhook-signature']!, /^v1,[A-Za-z0-9+/]{43}=$/);
    assert.equal(shop.receiver.received.length, 1);
  });

  it('gets messages whose signature the library of Standard Webhooks verifies, for these messages only', async t => {
    const shop = await webhookShop(t, { clock: new TestClock(Date.now()) });
    const { secret } = await shop.webhook();
    await shop.api.post('/categories', { name: 'Größen – 🐶', description: 'a\nb' });
    await shop.settle();
    const [{ text, headers, event }] = shop.receiver.received as [(typeof shop.receiver.received)[0]];
    assert.deepEqual(new Webhook(secret).verify(text, headers), event);
    assert.throws(() => new Webhook(secret).verify(text.replace('Gr', 'gr'), headers));
    assert.throws(() => new Webhook(secret).verify(text, { ...headers, 'webhook-id': 'msg_1_9' }));
    assert.throws(() => new Webhook(`whsec_${'A'.repeat(43)}=`).verify(text, headers));
  });

  it('gets messages that the library of CloudEvents accepts in structured mode, as the event in the log', async t => {
    const shop = await webhookShop(t);
    await shop.webhook();
    const categoryId = await aCategory(shop.api, { name: 'Größen – 🐶' });
    const petId = await aPet(shop.api, { categoryId });
    await anOrder(shop.api, { petId });
    await shop.settle();
    assert.ok(shop.receiver.received.length > 3);
    for (const { text, headers, event } of shop.receiver.received) {
      const read = readCloudEvent(headers as Record<string, string>, text);
      assert.deepEqual(JSON.parse(JSON.stringify(read)), event);
    }
  });

  it('gets both signatures during the overlap of a rotation, and then, or without one, only the new one', async t => {
    const shop = await webhookShop(t, { clock: new TestClock(Date.now()) });
    const { secret: old, path } = await shop.webhook();
    const { status, body } = await shop.api.post(`${path}/rotate`, { graceSeconds: 60 });
    assert.equal(status, 200);
    assert.notEqual(body.secret, old);
    assert.equal(Date.parse(body.earlierSecretExpiresAt), shop.clock.now() + MINUTE);
    await shop.deliver();
    await shop.after(MINUTE);
    await shop.deliver();
    const [during, afterwards] = shop.receiver.received;
    for (const secret of [old, body.secret]) new Webhook(secret).verify(during!.text, during!.headers);
    new Webhook(body.secret).verify(afterwards!.text, afterwards!.headers);
    assert.throws(() => new Webhook(old).verify(afterwards!.text, afterwards!.headers));
    const { body: last } = await shop.api.post(`${path}/rotate`, { graceSeconds: 0 });
    await shop.deliver();
    const { text, headers } = shop.receiver.received[2]!;
    new Webhook(last.secret).verify(text, headers);
    assert.throws(() => new Webhook(body.secret).verify(text, headers));
  });

  it('gets the signatures of its last two secrets, however soon one rotation follows another', async t => {
    const shop = await webhookShop(t, { clock: new TestClock(Date.now()) });
    const { secret: first, path } = await shop.webhook();
    const rotate = async () => (await shop.api.post(`${path}/rotate`, { graceSeconds: 60 })).body.secret;
    const lastTwo = [await rotate(), await rotate()];
    await shop.deliver();
    const { text, headers } = shop.receiver.received[0]!;
    for (const secret of lastTwo) new Webhook(secret).verify(text, headers);
    assert.throws(() => new Webhook(first).verify(text, headers));
  });

  it('gets the same webhook-id in all attempts of a delivery, each with its own timestamp and signature', async t => {
    const shop = await webhookShop(t);
    await shop.webhook();
    shop.receiver.respondWith(500);
    await shop.deliver();
    await shop.after(5 * SECOND);
    const [first, second] = shop.receiver.received.map(({ headers }) => headers);
    assert.equal(first!['webhook-id'], second!['webhook-id']);
    assert.equal(Number(second!['webhook-timestamp']) - Number(first!['webhook-timestamp']), 5);
    assert.notEqual(first!['webhook-signature'], second!['webhook-signature']);
  });

  it('gets the events of its types, and none from before it was created', async t => {
    const shop = await webhookShop(t, { receivers: 2 });
    const categoryId = await shop.deliver();
    await shop.webhook({ types: ['category.updated', 'pet.*'] });
    await shop.webhook({}, shop.receivers[1]);
    await shop.category();
    await shop.rename(categoryId, 'Dogs');
    await shop.api.post('/pets', { name: 'Rex', categoryId });
    await shop.api.post('/store/orders', {});
    await shop.settle();
    assert.deepEqual(shop.receiver.receivedEvents.toSorted(), [
      'categories/1 category.updated',
      'pets/1 pet.created',
    ]);
    const types = ['category.created', 'category.updated', 'order.placed', 'pet.created'];
    assert.deepEqual(shop.receivers[1]!.received.map(({ event }) => event.type).toSorted(), types);
  });

  it('that is deleted while an event is sent to it ends after that attempt', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook();
    shop.receiver.hold();
    await shop.category();
    const settled = shop.settle();
    await shop.receiver.has(1);
    assert.equal((await shop.api.delete(path)).status, 204);
    shop.receiver.release(500);
    await settled;
    await shop.after(MINUTE);
    assert.deepEqual([shop.receiver.received.length, shop.shop.app.dispatcher.laneCount], [1, 0]);
  });

  it('gets more events than one transaction can plan, each once and in order', async t => {
    const shop = await webhookShop(t);
    await shop.webhook();
    await shop.shop.app.db.write(async tx => {
      for (let n = 0; n < 250; n++)
        tx.append({
          ...{ type: 'category.updated', subject: `categories/${n % 5}`, actor: 'system' },
          data: `{"n":${n}}`,
        });
    });
    await shop.settle();
    assert.equal(shop.receiver.received.length, 250);
    const sent = Map.groupBy(shop.receiver.received, ({ event }) => event.data.n % 5);
    for (const [subject, received] of sent)
      assert.deepEqual(
        received.map(({ event }) => event.data.n),
        Array.from({ length: 50 }, (_, i) => 5 * i + subject),
      );
  });
});

it('the order of deliveries is kept within a subject: a failing delivery delays the later ones of its subject and no others', async t => {
  const shop = await webhookShop(t);
  await shop.webhook();
  let isBroken = true;
  shop.receiver.handleWith((response, { event }) => {
    response.writeHead(isBroken && event.subject === 'categories/1' ? 500 : 200).end();
  });
  const [broken, other] = [await shop.category(), await shop.category()];
  await shop.rename(broken, 'A');
  await shop.rename(other, 'B');
  await shop.rename(broken, 'C');
  await shop.settle();
  assert.deepEqual(shop.receiver.receivedEvents.toSorted(), [
    'categories/1 category.created',
    'categories/2 category.created',
    'categories/2 category.updated',
  ]);
  await shop.after(5 * SECOND);
  await shop.rename(other, 'D');
  await shop.settle();
  assert.deepEqual(shop.receiver.receivedEvents.slice(3), [
    'categories/1 category.created',
    'categories/2 category.updated',
  ]);
  isBroken = false;
  await shop.after(5 * MINUTE);
  const names = shop.receiver.received.slice(5).map(({ event }) => `${event.type} ${event.data.name}`);
  assert.match(names[0]!, /^category.created/);
  assert.deepEqual(names.slice(1), ['category.updated A', 'category.updated C']);
});

// On PostgreSQL, the relay numbers an event some milliseconds after the response to its change.
describe('a change whose response was sent before', () => {
  it('a webhook was created is not sent to it', async t => {
    const shop = await webhookShop(t);
    const ids: number[] = [];
    for (let i = 1; i <= 5; i++) {
      await shop.category();
      ids.push((await shop.webhook({ types: ['category.*'] })).id);
    }
    await shop.settle();
    // The first webhook gets categories 2 to 5, the second one 3 to 5, and so on.
    const sent = shop.receiver.received.map(({ headers, event }) => [headers['webhook-id'], event.subject]);
    assert.equal(sent.length, 4 + 3 + 2 + 1);
    for (const [messageId, subject] of sent) {
      const webhookId = Number(String(messageId).split('_')[1]);
      const before = 1 + ids.indexOf(webhookId);
      assert.ok(Number(String(subject).split('/')[1]) > before, `${messageId} has ${subject}`);
    }
  });

  it('a replay from `latest` is not sent after it', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook({ enabled: false });
    await shop.category();
    const replay = await shop.api.post(`${path}/replay`, { cursor: 'latest' });
    assert.equal(replay.status, 200, replay.text);
    assert.equal(replay.body.cursor, replay.body.latest);
    await shop.api.patch(path, { enabled: true });
    await shop.settle();
    assert.deepEqual(shop.receiver.received, []);
  });
});
