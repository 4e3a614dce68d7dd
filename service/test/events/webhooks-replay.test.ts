import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expire } from '../../src/events/event-log/event-log.ts';
import { DAY } from '../../src/kit/clock.ts';
import { document } from '../contract/document.ts';
import { assertRejected } from '../support/rejection.ts';
import { webhookShop } from './webhook-shop.ts';

describe('a replay', () => {
  it('delivers everything after a cursor again, in order, under the earlier webhook-ids', async t => {
    const shop = await webhookShop(t);
    const { id, path } = await shop.webhook({ types: ['category.*'] });
    const categoryId = await shop.category();
    await shop.rename(categoryId, 'A');
    await shop.rename(categoryId, 'B');
    await shop.settle();
    const { status, body } = await shop.api.post(`${path}/replay`, { cursor: '3' });
    assert.deepEqual([status, body], [200, { webhookId: id, cursor: '3', latest: '5' }]);
    await shop.settle();
    const ids = shop.receiver.received.map(({ event }) => event.id);
    assert.deepEqual(ids, ['3', '4', '5', '4', '5']);
    for (const { headers, event } of shop.receiver.received)
      assert.equal(headers['webhook-id'], `msg_${id}_${event.id}`);
    assert.equal((await shop.read(`${path}/deliveries`)).length, 5);
  });

  it('from before the oldest stored event is rejected with the oldest cursor', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook({ enabled: false });
    await shop.deliver();
    shop.clock.advance(DAY);
    await shop.deliver();
    await expire(shop.shop.app.db, shop.clock.now());
    const message = assertRejected(
      await shop.api.post(`${path}/replay`, { cursor: '0' }),
      410,
      'cursor_expired',
    );
    assert.match(message, /the oldest cursor is 3/);
    // Expired events cannot be delivered; the others are.
    await shop.api.patch(path, { enabled: true });
    await shop.settle();
    assert.deepEqual(shop.receiver.receivedEvents, ['categories/2 category.created']);
  });
});

describe('an action on a webhook', () => {
  const posts: [path: string, body: object | undefined][] = [
    ['test', undefined],
    ['rotate', {}],
    ['replay', { cursor: '1' }],
    ['deliveries/1/redeliver', undefined],
  ];

  it('is tested here, whichever it is', () => {
    const paths = Object.keys(document.paths).filter(
      path => document.paths[path]!.post && path.startsWith('/webhooks/'),
    );
    const tried = posts.map(([path]) => `/webhooks/{webhookId}/${path.replace('/1/', '/{deliveryId}/')}`);
    assert.deepEqual(tried.toSorted(), paths.toSorted());
  });

  for (const [path, body] of posts) {
    it(`by POST …/${path} is done once under an Idempotency-Key, and its response is replayed`, async t => {
      const shop = await webhookShop(t);
      const webhook = await shop.webhook();
      await shop.deliver();
      const send = () => shop.api.post(`${webhook.path}/${path}`, body, { 'idempotency-key': 'once' });
      const first = await send();
      await shop.settle();
      const sent = shop.receiver.received.length;
      const again = await send();
      await shop.settle();
      const { secret: _secret, ...shown } = first.body;
      assert.deepEqual(
        [again.status, again.body, again.headers.location, again.headers['idempotency-replayed']],
        [first.status, shown, first.headers.location, 'true'],
      );
      assert.ok(first.status < 300, first.text);
      assert.equal(shop.receiver.received.length, sent);
      assert.equal(sent, path === 'rotate' ? 1 : 2);
    });
  }
});
