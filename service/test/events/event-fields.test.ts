import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { provokeBan, usedUp } from '../access/provoke-ban.ts';
import { eventsOf, settledCursor } from '../support/event-log.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';

/** All characters that a request ID may have. */
const REQUEST_ID = 'Az09._~:/+=-';

// sdk/test-service-changes.test.ts compares the events of random changes, in their order, with those of the test service.
describe('an event', () => {
  it('is a CloudEvent with the time of the service’s clock', async t => {
    const shop = await startTestApp(t);
    const [event] = await eventsOf(shop, () => aCategory(shop.api, { name: 'Dogs' }));
    const { id, requestid, ...rest } = event!;
    assert.match(requestid!, /^[0-9a-f-]{36}$/);
    assert.match(id, /^[1-9]\d*$/);
    assert.deepEqual(rest, {
      specversion: '1.0',
      source: '/',
      type: 'category.created',
      subject: 'categories/1',
      time: '2026-11-21T12:00:00.000Z',
      datacontenttype: 'application/json',
      actor: 'keys/1',
      data: { id: 1, name: 'Dogs' },
    });
  });

  it('names the API key, the ID and the trace of the request that made the change, however many events it caused', async t => {
    const shop = await startTestApp(t);
    const petId = await aPet(shop.api);
    const seller = await shop.clientWith({ scopes: ['orders:write'] });
    const order = { petId, quantity: 1, complete: true };
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    for (const headers of [{}, { 'x-request-id': 'repeated', traceparent: traceparent.replace('4', 'a') }]) {
      const sent = { 'x-request-id': REQUEST_ID, 'idempotency-key': 'sale', traceparent, ...headers };
      const events = await eventsOf(shop, () => seller.post('/store/orders', order, sent));
      if ('x-request-id' in headers) assert.deepEqual(events, [], 'a repeated request makes no change');
      else {
        assert.ok(events.length > 2);
        const cause = { actor: `keys/${seller.keyId}`, requestid: REQUEST_ID, traceparent };
        for (const event of events) assert.partialDeepStrictEqual(event, cause);
      }
    }
  });

  it('names `system` when no request made the change, and has no request ID', async t => {
    const shop = await startTestApp(t);
    await settledCursor(shop);
    const [first] = (await shop.api.get('/events?cursor=0&type=key.created')).body;
    const client = await usedUp(shop);
    await provokeBan(shop, client);
    // The event of a ban follows the response.
    const bans = async () => (await shop.api.get('/events?cursor=0&type=key.banned')).body;
    await until('the log has the ban', async () => (await bans()).length > 0);
    for (const event of [first, ...(await bans())]) {
      assert.equal(event.actor, 'system', event.type);
      assert.ok(!('requestid' in event), event.type);
    }
  });
});
