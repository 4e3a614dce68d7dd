import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiKey } from '../../src/access/api-keys/api-key.ts';
import { Category } from '../../src/catalog/categories/category.ts';
import { eventTypeNames, isWarning } from '../../src/events/event-log/event-types.ts';
import { MINUTE } from '../../src/kit/clock.ts';
import { Order } from '../../src/orders/order.ts';
import type { Client } from '../support/client.ts';
import { eventsAfter, settledCursor } from '../support/event-log.ts';
import { type CloudEvent, EventReader } from '../support/event-reader.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { appendMany } from '../support/many-events.ts';
import { nextPath } from '../support/pages.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { useShop } from '../support/use-shop.ts';
import { valuesOf } from '../support/values.ts';

/** The kinds of resources whose events each scope lets a key with `events:read` read. */
const kinds: Record<string, readonly string[]> = {
  'pets:read': ['pet', 'category'],
  'orders:read': ['order'],
  'inventory:read': ['inventory'],
};

const shopScopes = Object.keys(kinds);

/** Every set of these scopes that is not empty. */
const sets = Array.from({ length: 2 ** shopScopes.length - 1 }, (_, i) =>
  shopScopes.filter((_, place) => (i + 1) & (1 << place)),
);

const kindOf = (type: string) => type.split('.')[0]!;
const kindsOf = (scopes: readonly string[]) => scopes.flatMap(scope => kinds[scope] ?? []);

/** Appends events of every kind that the shop has, and of a key. */
async function fill(shop: TestApp): Promise<void> {
  await anOrder(shop.api, { petId: await aPet(shop.api, { stock: 5 }) });
  await shop.clientWith({});
  await settledCursor(shop);
}

/** The events of a stream from the start of the log, up to the last one that the key may read. */
async function streamed(shop: TestApp, key: string, count: number, query = '') {
  const path = `/events/stream?cursor=0${query}`;
  const reader = await EventReader.open(shop.origin, key, { path });
  await reader.untilEvents(count);
  await reader.close();
  return reader.events;
}

describe('events, for a key with `events:read` and some scopes of the shop,', () => {
  const shop = useShop({}, fill);

  it('are those whose resources the key may read, complete and in order, on pages and in streams', async () => {
    const all = await eventsAfter(shop.api, 0);
    assert.deepEqual(
      new Set(all.map(({ type }) => kindOf(type))),
      new Set([...Object.values(kinds).flat(), 'key']),
    );
    for (const scopes of sets) {
      const reader = await shop.clientWith({ scopes: ['events:read', ...scopes] });
      const expected = all.filter(({ type }) => kindsOf(scopes).includes(kindOf(type)));
      assert.deepEqual(await eventsAfter(reader, 0), expected, String(scopes));
      assert.deepEqual(await streamed(shop, reader.key, expected.length), expected, String(scopes));
      const counted = await reader.get('/events?limit=1&count=true');
      assert.equal(counted.headers['x-total-count'], String(expected.length));
    }
  });

  it('can be requested by type and subject if the key may read them; otherwise 403 names the scope', async () => {
    const subjects = new Map((await eventsAfter(shop.api, 0)).map(it => [kindOf(it.type), it.subject]));
    const needed = (kind: string) => shopScopes.find(scope => kinds[scope]!.includes(kind)) ?? 'admin';
    // What a key may read are the kinds of its scopes together: the test above has every set.
    for (const scopes of [...shopScopes.map(scope => [scope]), shopScopes]) {
      const reader = await shop.clientWith({ scopes: ['events:read', ...scopes] });
      const readable = [...kindsOf(scopes), 'log'];
      // A key may read the warnings about itself: warnings.test.ts.
      const types = eventTypeNames.filter(type => !isWarning(type));
      for (const type of [...types, ...[...subjects.keys()].map(kind => `${kind}.*`)]) {
        const kind = kindOf(type);
        const subject = subjects.get(kind);
        const queries = [`type=${type}`, `type=${readable[0]}.created&type=${type}`];
        if (subject) queries.push(`subject=${subject}`, `subject=${subject}&type=${type}`);
        for (const query of queries.filter(query => !/type=(order|inventory)\.created/.test(query))) {
          const response = await reader.get(`/events?limit=1&${query}`);
          if (readable.includes(kind)) assert.equal(response.status, 200, response.text);
          else {
            const message = assertRejected(response, 403, 'insufficient_scope');
            assert.ok(message.includes(`\`${needed(kind)}\``), message);
            const stream = await reader.get(`/events/stream?${query}`);
            assertRejected(stream, 403, 'insufficient_scope', message);
          }
        }
      }
    }
  });

  it('fill a page even if many others are before them, and the end of the log is reached at once', async () => {
    await appendMany(shop.app, 3_000, { type: 'order.updated', subject: 'store/orders/1' });
    await anOrder(shop.api, { petId: await aPet(shop.api, { stock: 5 }) });
    const reader = await shop.clientWith({ scopes: ['events:read', 'inventory:read'] });
    const latest = await settledCursor(shop);
    const { body, ...page } = await reader.get('/events?limit=3');
    assert.deepEqual(valuesOf(body, 'subject'), [
      'store/inventory/1',
      'store/inventory/1',
      'store/inventory/2',
    ]);
    const rest = await reader.get(nextPath(page as Awaited<ReturnType<Client['get']>>)!);
    assert.equal(rest.body.length, 1);
    assert.equal(rest.headers.link, `</events?limit=3&cursor=${latest}>; rel="next"`);
  });
});

type Keyed = Awaited<ReturnType<TestApp['clientWith']>>;

/** Changes the scopes of keys as another process does, which then creates a category and places an order. */
async function changeElsewhere({ app }: TestApp, keyIds: readonly number[], scopes: readonly string[]) {
  const cause = { actor: 'system' };
  await app.db.write(async tx => {
    for (const id of keyIds) {
      await tx.run('UPDATE api_keys SET scopes = ? WHERE id = ?', [scopes.join(' '), id]);
      const key = { ...ApiKey.example, id, scopes };
      tx.append({ ...cause, type: 'key.updated', subject: `keys/${id}`, data: JSON.stringify(key) });
    }
    const category = JSON.stringify(Category.example);
    tx.append({ ...cause, type: 'category.created', subject: 'categories/1', data: category });
    const order = JSON.stringify(Order.example);
    tx.append({ ...cause, type: 'order.placed', subject: 'store/orders/1', data: order });
  });
}

describe('a change of the scopes of a key', () => {
  const changes: [what: string, before: string[], after: string[], kindsAfter: string[]][] = [
    ['loses some', ['pets:read', 'orders:read'], ['pets:read'], ['category']],
    ['gets more', ['pets:read'], ['pets:read', 'orders:read'], ['category', 'order']],
    ['becomes an administrator’s', ['pets:read'], ['admin'], ['key', 'category', 'order']],
  ];
  for (const [what, before, after, kindsAfter] of changes)
    it(`applies to every later event of the log when the key ${what} in another process`, async t => {
      const shop = await startTestApp(t, { heartbeat: MINUTE });
      const clients = [];
      // The service caches each key for a second, in which the clock of the test does not move.
      for (const _ of ['stream', 'poll', 'list', 'new stream'])
        clients.push(await shop.clientWith({ scopes: ['events:read', ...before] }));
      const [streaming, polling, listing, opening] = clients as [Keyed, Keyed, Keyed, Keyed];
      const reader = await EventReader.open(shop.origin, streaming.key);
      await aCategory(shop.api);
      await reader.untilEvents(1);
      const cursor = await settledCursor(shop);
      for (const client of [listing, opening]) assert.equal((await client.get('/events')).status, 200);
      const { mock } = t.mock.method(shop.app.tail, 'follow');
      const waiting = polling.get(`/events?cursor=${cursor}&wait=30`);
      await until('the poll waits', () => mock.callCount() === 1);
      await changeElsewhere(
        shop,
        clients.map(({ keyId }) => keyId),
        after.includes('admin') ? after : ['events:read', ...after],
      );

      await reader.untilOver();
      const opened = await EventReader.open(shop.origin, opening.key);
      for (const stream of [reader, opened]) {
        await stream.untilOver();
        assert.deepEqual(stream.comments, [
          'The API key may read other events now; connect again to continue',
        ]);
      }
      // The new stream ended before it sent its position.
      assert.deepEqual([reader.events.length, opened.events.length, opened.lastEventId], [1, 0, '']);
      const again = await EventReader.open(shop.origin, streaming.key, {
        headers: { 'last-event-id': reader.lastEventId },
      });
      const count = kindsAfter.length + (kindsAfter.includes('key') ? clients.length - 1 : 0);
      await again.untilEvents(count);
      await again.close();
      const listed = await listing.get(`/events?cursor=${cursor}`);
      for (const events of [again.events, (await waiting).body, listed.body] as CloudEvent[][]) {
        assert.equal(events.length, count);
        assert.deepEqual(new Set(events.map(({ type }) => kindOf(type))), new Set(kindsAfter));
      }
    });

  it('does not end a stream of types that the key may still read', async t => {
    const shop = await startTestApp(t, { heartbeat: MINUTE });
    const client = await shop.clientWith({ scopes: ['events:read', 'pets:read', 'orders:read'] });
    await settledCursor(shop);
    const open = (query: string) =>
      EventReader.open(shop.origin, client.key, { path: `/events/stream?${query}` });
    const [kept, ended] = [await open('type=category.*'), await open('type=order.*')];
    await shop.api.patch(`/keys/${client.keyId}`, { scopes: ['events:read', 'pets:read'] });
    await ended.untilOver();
    assert.match(
      ended.comments[0]!,
      /^The API key lacks the scope `orders:read` for events `order.placed`: /,
    );
    await aCategory(shop.api);
    await kept.untilEvents(1);
    await kept.close();
  });
});
