import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { INSERT_SEAL, NO_SEAL } from '../../src/db/event-seals.ts';
import { expire } from '../../src/events/event-log/event-log.ts';
import { HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { aPet } from '../support/factories.ts';
import { nextPath, pagesOf } from '../support/pages.ts';
import { assertInvalid } from '../support/rejection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';
import { idsOf } from '../support/values.ts';

/** The first of these events is at 12:00, and there is one per hour. Every third is of an order, the others are of pets. */
const FIRST = Date.parse('2026-11-01T12:00:00Z');
const EVENTS = 20;

function timeOf(hour: number): string {
  return new Date(FIRST + hour * HOUR).toISOString();
}

/** Replaces the log by events at these times. */
async function fillLog({ app }: TestApp, times: readonly number[]): Promise<void> {
  await app.db.numberEvents();
  await app.db.write(async tx => {
    await tx.run('DELETE FROM events');
    await tx.run('DELETE FROM event_seals');
    for (const [i, time] of times.entries()) {
      const [type, subject, data] =
        i % 3 === 0
          ? ['order.placed', 'store/orders/1', '{"id":1,"quantity":1,"complete":false}']
          : ['pet.updated', `pets/${i % 3}`, '{"id":1,"name":"Bo","categoryId":1,"status":"available"}'];
      await tx.run(
        "INSERT INTO events (id, type, subject, time, data, actor) VALUES (?, ?, ?, ?, ?, 'system')",
        [...[i + 1, type!, subject!, time, data!]],
      );
      // Events expire by groups.
      await tx.run(INSERT_SEAL, [i + 1, i + 1, NO_SEAL, '', time]);
    }
    // On SQLite this is a view of the events.
    if (app.db.engine === 'postgres') await tx.run('UPDATE event_log SET last_id = ?', [times.length]);
  });
}

const hourly = Array.from({ length: EVENTS }, (_, i) => FIRST + i * HOUR);

async function listedIds({ api }: TestApp, query: string): Promise<number[]> {
  const pages = await Array.fromAsync(pagesOf(api, `/events?to=${timeOf(100)}&limit=3&${query}`));
  return pages.flatMap(({ body }) => idsOf(body));
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: Math.max(to - from + 1, 0) }, (_, i) => from + i);
}

describe('events of a period', () => {
  const shop = useShop();

  it('are from one time on and before another, and the last page has no link', async () => {
    await fillLog(shop, hourly);
    for (const [from, to, ids] of [
      [0, 20, numbers(1, 20)],
      [3, 5, [4, 5]],
      [3.5, 5.5, [5, 6]],
      [-5, 2, [1, 2]],
      [19, 50, [20]],
      [30, 50, []],
      [5, 5, []],
      [5, 3, []],
    ] as const) {
      const path = `/events?from=${timeOf(from)}&to=${timeOf(to)}&limit=3`;
      const pages = await Array.fromAsync(pagesOf(shop.api, path));
      const found = pages.flatMap(({ body }) => idsOf(body));
      assert.deepEqual(found, ids, path);
      for (const { body } of pages) assert.ok(body.length <= 3);
    }
  });

  it('combine with types, subjects and cursors, and are counted', async () => {
    await fillLog(shop, hourly);
    const from = timeOf(4);
    assert.deepEqual(await listedIds(shop, `from=${from}&type=order.*`), [7, 10, 13, 16, 19]);
    assert.deepEqual(await listedIds(shop, `from=${from}&subject=pets/2`), [6, 9, 12, 15, 18]);
    assert.deepEqual(await listedIds(shop, `from=${from}&cursor=17`), [18, 19, 20]);
    assert.deepEqual(await listedIds(shop, `from=${from}&cursor=1`), numbers(5, 20));
    for (const [query, total] of [
      ['', 20],
      [`from=${from}`, 16],
      [`from=${from}&cursor=17&limit=1`, 16],
      [`from=${from}&to=${timeOf(10)}&type=order.*`, 2],
      ['type=order.*&type=pet.updated', 20],
      ['subject=pets/2&type=pet.*', 6],
      ['subject=pets/2&type=order.*', 0],
      ['subject=pets/99', 0],
    ] as const) {
      const { status, headers, text } = await shop.api.get(`/events?count=true&${query}`);
      assert.deepEqual([status, headers['x-total-count']], [200, `${total}`], `${query}: ${text}`);
    }
    const ofBoth = await shop.api.get('/events?count=true&subject=pets/2&actor=keys/1');
    assertInvalid(ofBoth, /^Query parameter `count` cannot be combined with `subject` and `actor` together/);
  });

  it('that adjoin contain each event once, also when a clock was set back', async () => {
    // The clock is set back by 5 hours after 9 events, and later swaps neighbours.
    const times = hourly.map((time, i) => (i < 9 ? time : i % 2 === 0 ? time - 5 * HOUR : time - 7 * HOUR));
    await fillLog(shop, times);
    const found: number[] = [];
    for (let hour = -1; hour < 25; hour += 1.5) {
      const pages = pagesOf(shop.api, `/events?from=${timeOf(hour)}&to=${timeOf(hour + 1.5)}&limit=100`);
      for await (const { body } of pages) found.push(...idsOf(body));
    }
    assert.deepEqual(found, numbers(1, EVENTS));
  });

  it('has a next page until a minute after its end, and wait returns its next event', async t => {
    const { api, app, clock } = await startTestApp(t, { alone: false });
    await aPet(api);
    await app.db.numberEvents();
    const [from, to] = [1, 10].map(seconds => new Date(clock.now() + seconds * SECOND).toISOString());
    const first = await api.get(`/events?from=${from}&to=${to}`);
    assert.deepEqual(first.body, []);
    clock.advance(2 * SECOND);
    const waiting = api.get(`${nextPath(first)}&wait=60`);
    await aPet(api, { name: 'Late' });
    const { body, headers } = await waiting;
    assert.ok(body.length > 0 && headers.link !== undefined);
    clock.advance(8 * SECOND + MINUTE - 1);
    const early = await api.get(`/events?from=${from}&to=${to}`);
    assert.ok(early.headers.link !== undefined, 'its last change may not be recorded yet');
    clock.advance(1);
    await aPet(api, { name: 'Later' });
    await app.db.numberEvents();
    const rest = await Array.fromAsync(pagesOf(api, `/events?from=${from}&to=${to}&wait=60`));
    const names = rest.flatMap(page => page.body.map(({ data }: { data: { name?: string } }) => data.name));
    assert.ok(names.includes('Late') && !names.includes('Later'), `${names}`);
  });

  it('are found by their times as before when the beginning of the log has expired', async () => {
    await fillLog(shop, hourly);
    while (await expire(shop.app.db, FIRST + 13 * HOUR));
    for (const [query, ids] of [
      ['', numbers(14, 20)],
      [`from=${timeOf(16)}`, numbers(17, 20)],
      [`from=${timeOf(14)}&to=${timeOf(17)}`, [15, 16, 17]],
      [`from=${timeOf(2)}&to=${timeOf(15)}`, [14, 15]],
      [`from=${timeOf(2)}&to=${timeOf(5)}`, []],
    ] as const) {
      const { body } = await shop.api.get(`/events?${query}`);
      assert.deepEqual(idsOf(body), ids, query);
    }
  });

  it('have times with an offset', async () => {
    for (const time of ['2026-11-01', '2026-11-01T12:00:00', 'yesterday', '']) {
      assertInvalid(await shop.api.get(`/events?from=${time}`), /^Query parameter `from` must be/);
    }
  });
});
