import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expire } from '../../src/events/event-log/event-log.ts';
import { HOUR } from '../../src/kit/clock.ts';
import { settledCursor } from '../support/event-log.ts';
import { aCategory } from '../support/factories.ts';
import { startTestApp } from '../support/test-app.ts';

describe('events of a period, after the beginning of the log has expired', () => {
  it('are found by their times as before', async t => {
    const shop = await startTestApp(t);
    const { app, api, clock } = shop;
    const times: string[] = [];
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) {
      clock.advance(HOUR);
      times.push(new Date(clock.now()).toISOString());
      await aCategory(api);
      ids.push(await settledCursor(shop));
    }
    while (await expire(app.db, Date.parse(times[13]!)));
    const idsIn = async (query: string) =>
      (await api.get(`/events?${query}`)).body.map(({ id }: { id: string }) => id);
    assert.deepEqual(await idsIn(''), ids.slice(13));
    assert.deepEqual(await idsIn(`from=${times[16]}`), ids.slice(16));
    assert.deepEqual(await idsIn(`from=${times[14]}&to=${times[17]}`), ids.slice(14, 17));
    assert.deepEqual(await idsIn(`from=${times[2]}&to=${times[15]}`), ids.slice(13, 15));
    assert.deepEqual(await idsIn(`from=${times[2]}&to=${times[5]}`), []);
  });
});
