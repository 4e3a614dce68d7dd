import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EventTail } from '../../src/events/event-log/event-tail.ts';
import { waitForEvents } from '../../src/events/stream/wait-for-events.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { startTestApp } from '../support/test-app.ts';
import { inTime } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';
import { CountingLog, settle } from './counting-log.ts';

function aTail(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const log = new CountingLog();
  const errors: string[] = [];
  const note = (problem: unknown) => void errors.push(String(problem));
  const tail = new EventTail(log, { onError: note, onTakenBack: note });
  t.after(async () => {
    await tail.close();
    assert.deepEqual(errors, []);
  });
  return { tail, log, errors };
}

describe('the tail of the log', () => {
  it('is read every second while it has a follower, and not after the last one leaves', async t => {
    const { tail, log } = aTail(t);
    const unfollow = Array.from({ length: 1_000 }, () => tail.follow(() => {}));
    await settle();
    const before = log.reads;
    for (let second = 0; second < 5; second++) {
      t.mock.timers.tick(SECOND);
      await settle();
    }
    assert.equal(log.reads - before, 5);
    for (const end of unfollow.slice(1)) end();
    t.mock.timers.tick(SECOND);
    await settle();
    assert.equal(log.reads - before, 6, 'one follower remains');
    unfollow[0]!();
    for (let second = 0; second < 60; second++) {
      t.mock.timers.tick(SECOND);
      log.append();
      await settle();
    }
    assert.deepEqual([log.reads - before, tail.position], [6, undefined]);
  });

  it('calls at most 50 followers in one turn of the event loop', async t => {
    const { tail, log } = aTail(t);
    let called = 0;
    const ends = Array.from({ length: 120 }, () => tail.follow(() => called++));
    await settle();
    called = 0;
    log.append();
    let most = 0;
    while (called < ends.length) {
      const before = called;
      await nextTurn();
      most = Math.max(most, called - before);
    }
    assert.equal(most, 50);
    for (const end of ends) end();
  });

  it('is read again after a failed read, from the same position, and after events that came during a read', async t => {
    const { tail, log, errors } = aTail(t);
    const seen: number[] = [];
    const end = tail.follow(events => seen.push(...events.map(({ id }) => id)));
    await settle();
    const { all } = CountingLog.prototype;
    t.mock.method(log, 'all', () => Promise.reject(new Error('unavailable')), { times: 1 });
    log.append();
    await settle();
    assert.deepEqual([errors.splice(0), seen], [['Error: unavailable'], []]);
    t.mock.timers.tick(SECOND);
    await settle();
    assert.deepEqual(seen, [1]);
    const late = async (...query: Parameters<typeof all>) => {
      const rows = await all.apply(log, query);
      log.append();
      return rows;
    };
    t.mock.method(log, 'all', late, { times: 1 });
    log.append();
    await settle();
    assert.deepEqual(seen, [1, 2, 3], 'without a timer');
    end();
  });

  it('is read to its end at once, in batches, also when nothing announces the rest', async t => {
    const { tail, log } = aTail(t);
    const batches: number[] = [];
    const end = tail.follow(events => batches.push(events.length));
    await settle();
    log.append(450);
    await settle();
    assert.deepEqual(batches, [0, 200, 200, 50], 'without a timer');
    end();
  });

  it('is read by one timer and notifies no follower that has left, however often all leave and others arrive', async t => {
    const { tail, log } = aTail(t);
    let notified = 0;
    for (let i = 0; i < 1_000; i++) tail.follow(() => notified++)();
    await settle();
    const end = tail.follow(() => {});
    for (let i = 0; i < 1_000; i++) tail.follow(() => notified++)();
    await settle();
    const before = log.reads;
    t.mock.timers.tick(SECOND);
    await settle();
    assert.equal(log.reads - before, 1);
    log.append();
    await settle();
    assert.equal(notified, 0);
    end();
  });

  it('is not read after it was closed, and notifies no follower', async t => {
    const { tail, log } = aTail(t);
    let notified = 0;
    for (let i = 0; i < 1_000; i++) tail.follow(() => notified++);
    await settle();
    await tail.close();
    const [before, notifiedBefore] = [log.reads, notified];
    log.append();
    t.mock.timers.tick(60 * SECOND);
    await settle();
    assert.deepEqual([log.reads, notified], [before, notifiedBefore]);
  });

  it('is closed with the service, before the store', async t => {
    const shop = await startTestApp(t);
    const closed: string[] = [];
    const note = (name: string, part: { close: () => Promise<void> }) => {
      const { close } = part;
      t.mock.method(part, 'close', async () => {
        await close.call(part);
        closed.push(name);
      });
    };
    note('tail', shop.app.tail);
    note('store', shop.app.db);
    await shop.restart();
    assert.deepEqual(closed, ['tail', 'store']);
  });
});

it('a wait ends with an event that is logged while it reads the log, without a timer', async t => {
  const { tail, log } = aTail(t);
  const { all } = CountingLog.prototype;
  let reads = 0;
  t.mock.method(log, 'all', async (...query: Parameters<typeof all>) => {
    const rows = await all.apply(log, query);
    // The third read is the one after which it waits: the second one follows the start of the tail.
    if (++reads === 3) {
      log.append();
      await settle();
    }
    return rows;
  });
  const { signal } = new AbortController();
  const wait = { after: 0, limit: 10, seconds: 60, signal };
  const filter = { types: undefined, subject: undefined };
  const page = await inTime('the event', waitForEvents({ db: log, tail }, filter, wait), 30);
  assert.deepEqual(valuesOf(page.events, 'id'), [1]);
});
