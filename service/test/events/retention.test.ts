import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Database } from '../../src/db/database.ts';
import { expire } from '../../src/events/event-log/event-log.ts';
import { DAY, SECOND } from '../../src/kit/clock.ts';
import { eventsAfter, latestCursor, settledCursor } from '../support/event-log.ts';
import { EventReader } from '../support/event-reader.ts';
import { aCategory } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

async function expireAll(db: Database, before: number): Promise<void> {
  while (await expire(db, before));
}

describe('expired events', () => {
  it('are deleted, other events stay, and a cursor before them is rejected with the oldest cursor', async t => {
    const shop = await startTestApp(t);
    const { app, api, clock } = shop;
    for (let i = 0; i < 3; i++) await aCategory(api);
    const expired = await settledCursor(shop);
    clock.advance(2 * DAY);
    const kept = await aCategory(api);
    const end = await settledCursor(shop);
    await expireAll(app.db, clock.now() - DAY);

    for (const path of ['/events', '/events/stream']) {
      for (const cursor of ['0', '1', String(Number(expired) - 1)]) {
        const message = assertRejected(await api.get(`${path}?cursor=${cursor}`), 410, 'cursor_expired');
        assert.equal(
          message,
          `The events after cursor ${cursor} have expired; the oldest cursor is ${expired}: read the ` +
            'resources to get earlier changes',
        );
      }
    }
    const lost = await api.get('/events/stream', { 'last-event-id': '1' });
    assertRejected(lost, 410, 'cursor_expired');
    for (const query of [`?cursor=${expired}`, '']) {
      const page = await api.get(`/events${query}`);
      assert.deepEqual(page.body[0].data, { id: kept, name: page.body[0].data.name });
    }
    const reader = await EventReader.open(shop.origin, shop.adminKey, {
      headers: { 'last-event-id': expired },
    });
    await reader.untilEvents(1);
    await reader.close();
    assert.equal(await latestCursor(api), end);
  });

  it('leave the numbering unchanged, even when all of them are deleted', async t => {
    const shop = await startTestApp(t);
    const { app, api, clock } = shop;
    await aCategory(api);
    const end = await settledCursor(shop);
    clock.advance(2 * DAY);
    await expireAll(app.db, clock.now() - DAY);
    assert.equal(await latestCursor(api), end);
    assert.deepEqual((await api.get('/events')).body, []);
    assert.deepEqual((await api.get(`/events?cursor=${end}`)).body, []);
    assertRejected(await api.get('/events?cursor=0'), 410, 'cursor_expired');
    await aCategory(api);
    await settledCursor(shop);
    const [next] = await eventsAfter(api, end);
    assert.equal(next!.id, String(Number(end) + 1));
  });

  it('are deleted from the start of the log only, so that a clock that is behind leaves no gap', async t => {
    const shop = await startTestApp(t);
    await aCategory(shop.api);
    await settledCursor(shop);
    shop.clock.advance(-5 * DAY);
    await aCategory(shop.api);
    const end = await settledCursor(shop);
    shop.clock.advance(5 * DAY + SECOND);
    await expireAll(shop.app.db, shop.clock.now() - DAY);
    assert.equal((await eventsAfter(shop.api, 0)).length, Number(end));
  });
});
