import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { provokeBan, usedUp } from '../access/provoke-ban.ts';
import { eventsOf, settledCursor } from '../support/event-log.ts';
import { aPet } from '../support/factories.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';

/** All characters that a request ID may have. */
const REQUEST_ID = 'Az09._~:/+=-';

describe('an event', () => {
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

  it('has the ID that the service generated when the client sent none, or one with other characters', async t => {
    const shop = await startTestApp(t);
    for (const headers of [{}, { 'x-request-id': 'a"b' }, { 'x-request-id': 'x'.repeat(129) }]) {
      let generated = '';
      const [event] = await eventsOf(shop, async () => {
        const name = `Category ${Math.random()}`;
        const response = await shop.api.post('/categories', { name }, headers);
        generated = response.headers['x-request-id'] as string;
      });
      assert.match(generated, /^[0-9a-f-]{36}$/);
      assert.equal(event!.requestid, generated);
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
