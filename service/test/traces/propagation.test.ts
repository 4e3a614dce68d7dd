import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type WebhookShop, webhookShop } from '../events/webhook-shop.ts';
import { EventReader } from '../support/event-reader.ts';
import { until } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = `00-${TRACE}-00f067aa0ba902b7-01`;
const LATER_VERSION = `7f-${TRACE}-00f067aa0ba902b7-ff-and-more`;

async function category({ api }: WebhookShop, headers: Record<string, string>): Promise<number> {
  const { status, body } = await api.post('/categories', { name: `Category ${Math.random()}` }, headers);
  assert.equal(status, 201);
  return body.id;
}

/** The lines of the log with this message, when there are this many. */
async function lines({ shop }: WebhookShop, message: string, count: number) {
  const found = () => shop.logLines().filter(({ msg }) => msg === message);
  await until(`the log has ${count} lines "${message}"`, () => found().length >= count);
  return found();
}

describe('the trace in a client’s traceparent', () => {
  it('is in the access log by its ID, and null for a request without one', async t => {
    const shop = await webhookShop(t);
    await shop.api.get('/pets', { traceparent: CALLER });
    await shop.api.get('/pets');
    await shop.api.get('/pets', { traceparent: CALLER.toUpperCase() });
    await shop.api.get('/nowhere', { traceparent: LATER_VERSION });
    await shop.api.get('/pets/%ZZ', { traceparent: CALLER });
    const logged = await lines(shop, 'Request', 5);
    assert.deepEqual(valuesOf(logged, 'traceId'), [TRACE, null, null, TRACE, TRACE]);
  });

  it('is in the events of its change, in the poll, the stream and the webhook', async t => {
    const shop = await webhookShop(t);
    await shop.webhook();
    const reader = await EventReader.open(shop.shop.origin, shop.shop.adminKey);
    await category(shop, { traceparent: CALLER });
    await category(shop, {});
    await category(shop, { traceparent: LATER_VERSION, 'idempotency-key': 'once' });
    await shop.settle();
    const { body } = await shop.api.get('/events');
    const forwarded = `00-${TRACE}-00f067aa0ba902b7-03`;
    const expected = [CALLER, undefined, forwarded];
    const ofCategories = body.filter(({ type }: { type: string }) => type === 'category.created');
    assert.deepEqual(valuesOf(ofCategories, 'traceparent'), expected);
    await reader.untilEvents(3);
    assert.deepEqual(reader.events, ofCategories);
    await reader.close();
    await shop.receiver.has(3);
    const received = shop.receiver.received.toSorted((a, b) => Number(a.event.id) - Number(b.event.id));
    assert.deepEqual(
      received.map(({ event }) => event.traceparent),
      expected,
    );
    assert.deepEqual(
      received.map(({ headers }) => headers.traceparent),
      expected,
    );
  });

  it('is in the log line when a delivery of its event disables the webhook', async t => {
    const shop = await webhookShop(t);
    await shop.webhook();
    shop.receiver.respondWith(410);
    await category(shop, { traceparent: CALLER });
    await shop.settle();
    const [line] = await lines(shop, 'Webhook disabled', 1);
    assert.equal(line!.traceId, TRACE);
  });

  it('is in the log line of a failed request', async t => {
    const shop = await webhookShop(t);
    const { db } = shop.shop.app;
    // Tasks of the service fail as well.
    shop.shop.expectErrors(/Error: broken/);
    t.mock.method(db, 'get', () => Promise.reject(new Error('broken')));
    t.mock.method(db, 'all', () => Promise.reject(new Error('broken')));
    assert.equal((await shop.api.get('/pets', { traceparent: CALLER })).status, 500);
    t.mock.restoreAll();
    const [line] = await lines(shop, 'Request failed', 1);
    assert.equal(line!.traceId, TRACE);
  });
});
