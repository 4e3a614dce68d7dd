import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { webhookShop } from './webhook-shop.ts';

// On PostgreSQL, the relay numbers an event some milliseconds after the response to its change.
describe('a change whose response was sent before', () => {
  it('a webhook was created is not sent to it', async t => {
    const shop = await webhookShop(t);
    for (let i = 1; i <= 5; i++) {
      await shop.category();
      await shop.webhook({ types: ['category.*'] });
    }
    await shop.settle();
    // Webhook 1 gets categories 2 to 5, webhook 2 gets 3 to 5, and so on.
    const sent = shop.receiver.received.map(({ headers, event }) => [headers['webhook-id'], event.subject]);
    assert.equal(sent.length, 4 + 3 + 2 + 1);
    for (const [messageId, subject] of sent) {
      const webhookId = Number(String(messageId).split('_')[1]);
      assert.ok(Number(String(subject).split('/')[1]) > webhookId, `${messageId} has ${subject}`);
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
