import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from '../support/client.ts';
import { assertGapless, cursorOf, eventsAfter, settledCursor } from '../support/event-log.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { sized } from '../support/long.ts';
import { appendMany } from '../support/many-events.ts';
import { nextPath } from '../support/pages.ts';
import { assertInvalid } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { idsOf, valuesOf } from '../support/values.ts';

async function typesIn(api: Client, query: string): Promise<string[]> {
  return [...new Set(valuesOf(await eventsAfter(api, 0, query), 'type'))].toSorted();
}

describe('a page of the log', () => {
  it('has the events after its cursor, without gaps, and always links to a next page', async t => {
    const shop = await startTestApp(t);
    for (let i = 0; i < 5; i++) await aCategory(shop.api);
    await settledCursor(shop);
    const first = await shop.api.get('/events?limit=3');
    assertGapless(idsOf(first.body), 1);
    assert.equal(first.body.length, 3);
    assert.equal(nextPath(first), '/events?limit=3&cursor=3');
    const second = await shop.api.get('/events?limit=3&cursor=3');
    assert.equal(second.body[0].id, '4');
    const end = await settledCursor(shop);
    const empty = await shop.api.get(`/events?cursor=${end}`);
    assert.deepEqual([empty.body, nextPath(empty)], [[], `/events?cursor=${end}`]);
    await aCategory(shop.api, { name: 'Later' });
    await settledCursor(shop);
    assert.equal((await shop.api.get(nextPath(empty)!)).body[0].data.name, 'Later');
  });

  it('after `latest` has only later events', async t => {
    const shop = await startTestApp(t);
    await aCategory(shop.api);
    const end = await settledCursor(shop);
    const page = await shop.api.get('/events?cursor=latest&type=pet.*');
    assert.deepEqual([page.body, nextPath(page)], [[], `/events?cursor=${end}&type=pet.*`]);
  });

  it('has no gap after a rejected change, even among many concurrent ones', async t => {
    const shop = await startTestApp(t);
    const pet = await aPet(shop.api, { stock: 10 });
    const orders = Array.from({ length: 40 }, (_, i) =>
      shop.api.post('/store/orders', { petId: pet, quantity: i % 2 ? 1 : 99 }),
    );
    const done = (await Promise.all(orders)).filter(({ status }) => status === 201).length;
    assert.equal(done, 10);
    const end = await settledCursor(shop);
    const events = await eventsAfter(shop.api, 0);
    assertGapless(idsOf(events), 1);
    assert.equal(String(events.length), end);
    assert.equal(events.filter(({ type }) => type === 'order.placed').length, done);
  });

  it('can be filtered by some types, by all types of a kind, and by one subject', async t => {
    const shop = await startTestApp(t);
    const { api } = shop;
    const pet = await aPet(api, { stock: 5 });
    const order = await anOrder(api, { petId: pet });
    await api.patch(`/store/orders/${order}`, { complete: true });
    await settledCursor(shop);
    assert.deepEqual(await typesIn(api, '&type=order.placed'), ['order.placed']);
    assert.deepEqual(await typesIn(api, '&type=order.*'), ['order.completed', 'order.placed']);
    for (const types of ['type=order.placed&type=pet.*', 'type=order.placed,pet.*'])
      assert.deepEqual(await typesIn(api, `&${types}`), ['order.placed', 'pet.created']);
    assert.deepEqual(await typesIn(api, `&subject=store/inventory/${pet}`), ['inventory.updated']);
    assert.deepEqual(await typesIn(api, `&subject=store/orders/${order}&type=order.completed`), [
      'order.completed',
    ]);
    assert.deepEqual(await typesIn(api, '&subject=store/orders/999'), []);
  });

  it('keeps its filters in the link to the next page', async t => {
    const shop = await startTestApp(t);
    const pet = await aPet(shop.api, { stock: 5 });
    for (let i = 0; i < 5; i++) await anOrder(shop.api, { petId: pet });
    await settledCursor(shop);
    let path = `/events?type=order.*&limit=2`;
    const seen: unknown[] = [];
    for (let count = 0; count < 4; count++) {
      const page = await shop.api.get(path);
      seen.push(...valuesOf(page.body, 'type'));
      path = nextPath(page)!;
    }
    assert.deepEqual(seen, Array(5).fill('order.placed'));
  });

  it('has the first event that passes its filter, however far away, and then the end of the log', async t => {
    const shop = await startTestApp(t);
    await appendMany(shop.app, sized(5_000, 45_000));
    const category = await aCategory(shop.api);
    const end = await settledCursor(shop);
    for (const filter of ['type=category.created', `subject=categories/${category}`]) {
      const page = await shop.api.get(`/events?${filter}&cursor=0&wait=30`);
      assert.deepEqual([page.body.length, cursorOf(nextPath(page)!)], [1, end]);
    }
    for (const filter of ['type=order.*', 'subject=pets/3', 'subject=pets/1&type=pet.deleted']) {
      const page = await shop.api.get(`/events?${filter}&cursor=0`);
      assert.deepEqual([page.body, cursorOf(nextPath(page)!)], [[], end]);
    }
  });

  it('is rejected for a wrong cursor, type or wait, and the message states the problem', async t => {
    const shop = await startTestApp(t);
    const messages: [query: string, message: RegExp][] = [
      ['cursor=abc', /the number of an event.*was "abc"$/],
      ['cursor=-1', /the number of an event.*was "-1"$/],
      ['cursor=01', /the number of an event.*was "01"$/],
      ['cursor=99999999999999999', /the number of an event/],
      ['cursor=9007199254740993', /the number of an event, or `latest`; it was 9007199254740993$/],
      ['cursor=', /`cursor`/],
      ['type=pet.create', /no event type `pet.create`; did you mean `pet.created`\?/],
      ['type=pets.*', /no event type `pets.\*`; did you mean `pet.\*`\?/],
      ['type=*', /no event type `\*`/],
      ['type=', /no event type ``/],
      ['wait=61', /`wait`/],
      ['wait=-1', /`wait`/],
      ['limit=1001', /`limit`/],
      ['sort=id', /`sort`/],
    ];
    for (const [query, message] of messages) {
      assert.match(assertInvalid(await shop.api.get(`/events?${query}`)), message, query);
    }
    for (const [query, message] of messages.slice(0, 5)) {
      const response = await shop.api.get(`/events/stream?${query}`);
      assert.match(assertInvalid(response), message, query);
    }
    for (const id of ['abc', '-1', '9'.repeat(400)]) {
      const response = await shop.api.get('/events/stream', { 'last-event-id': id });
      assertInvalid(
        response,
        new RegExp(`^The cursor must be the number of an event, .* it was ${id.slice(0, 20)}…?$`),
      );
    }
    for (const id of ['1\t2', '\u00e9'])
      assertInvalid(await shop.api.get('/events/stream', { 'last-event-id': id }));
  });
});
