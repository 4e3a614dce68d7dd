import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Client } from 'pg';
import { DatabaseUnavailable, type Queries } from '../../src/db/database.ts';
import { EVENTS } from '../../src/db/notices.ts';
import type { ContinuedLog } from '../../src/db/postgres-relay.ts';
import { EventTail } from '../../src/events/event-log/event-tail.ts';
import { COMMIT, DatabaseProxy } from '../support/database-proxy.ts';
import { engines, openPostgresStore } from '../support/engines.ts';
import { until } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';

const insert = "INSERT INTO categories (name, name_key) VALUES ('Dogs', 'dogs')";

const count = (db: Queries) => db.get<{ n: number }>('SELECT count(*) AS n FROM categories');

for (const [engine, openStore] of Object.entries(engines)) {
  describe(`a notice of a transaction on ${engine}`, () => {
    it('is sent once, after the commit and before the write resolves, even by a write within another', async t => {
      const { db } = await openStore(t);
      const order: string[] = [];
      const seen: Promise<{ n: number } | undefined>[] = [];
      db.onNotice('shelves', () => {
        order.push('notice');
        seen.push(count(db));
      });
      db.onNotice('doors', () => order.push('another notice'));
      await db.write(async tx => {
        await tx.write(async inner => {
          inner.notify('shelves');
          inner.notify('shelves');
          await inner.run(insert);
        });
        await tx.run('UPDATE categories SET name = name');
        order.push('end of the work');
      });
      order.push('written');
      assert.deepEqual(order, ['end of the work', 'notice', 'written']);
      assert.deepEqual(await Promise.all(seen), [{ n: 1 }]);
    });

    it('is not sent again by later transactions', async t => {
      const { db } = await openStore(t);
      let notices = 0;
      db.onNotice('shelves', () => notices++);
      await db.write(async tx => tx.notify('shelves'));
      await db.write(tx => tx.run(insert));
      assert.equal(notices, 1);
    });
  });
}

const textOf = (query: string | { text?: string }) => (typeof query === 'string' ? query : query.text);

describe('a notice of a transaction on PostgreSQL', () => {
  it('waits for the response to the commit', async t => {
    const { db } = await openPostgresStore(t);
    const order: string[] = [];
    db.onNotice('shelves', () => order.push('notice'));
    const { query } = Client.prototype;
    t.mock.method(Client.prototype, 'query', function (this: Client, ...args: Parameters<typeof query>) {
      const response: unknown = query.apply(this, args);
      if (textOf(args[0]) === 'COMMIT')
        void (response as Promise<unknown>).then(() => order.push('committed'));
      return response;
    });
    await db.write(async tx => tx.notify('shelves'));
    assert.deepEqual(order, ['committed', 'notice']);
  });

  it('is also sent when the connection breaks during the commit, because the change may be stored', async t => {
    const { openAgain, url } = await openPostgresStore(t);
    const proxy = await DatabaseProxy.between(t, url);
    const db = await openAgain({ url: proxy.url });
    let notices = 0;
    db.onNotice('shelves', () => notices++);
    proxy.fate = [COMMIT, 'is cut off'];
    const written = db.write(async tx => {
      tx.notify('shelves');
      await tx.run(insert);
    });
    await assert.rejects(written, DatabaseUnavailable);
    assert.equal(notices, 1);
  });
});

const event = { type: 'pet.updated', subject: 'pets/1', actor: 'system', data: '{}' };

for (const [engine, openStore] of Object.entries(engines)) {
  it(`events on ${engine} reach a follower in another process by notifications alone, however many are committed at once`, async t => {
    // No poll runs.
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { db, openAgain } = await openStore(t);
    // Only one process has an embedded store.
    const tail = new EventTail(engine === 'SQLite' ? db : await openAgain(), {
      onError: error => assert.fail(String(error)),
      onTakenBack: () => assert.fail('The log was not taken back'),
    });
    t.after(() => tail.close());
    tail.follow(() => {});
    await until('it follows the log', () => tail.position === 0);
    let appended = 0;
    const append = async (count: number) => {
      await db.write(async tx => {
        for (let i = 0; i < count; i++) tx.append(event);
      });
      appended += count;
      await until(`event ${appended} arrives`, () => tail.position === appended);
    };
    while (appended < 20) await append(1);
    // A read of the log has at most 200 events, and 1,000 get their numbers in one transaction.
    for (const count of [200, 201, 1_000, 1_001]) await append(count);
  });
}

it('all committed events on PostgreSQL have numbers when a process waits for them, however many there are', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { db } = await openPostgresStore(t);
  await db.run(`INSERT INTO new_events (type, subject, time, data, actor)
    SELECT 'pet.updated', 'pets/1', 0, '{}', 'system' FROM generate_series(1, 2001)`);
  assert.equal(await db.unnumberedEvents(), 2_001);
  await db.numberEvents();
  assert.equal(await db.unnumberedEvents(), 0);
});

it('a process on PostgreSQL knows the events that others number in their transactions by the notifications alone: the log continues after them when it ends earlier', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { db, openAgain } = await openPostgresStore(t);
  const continued: ContinuedLog[] = [];
  const reader = await openAgain({ onContinued: log => continued.push(log) });
  let notifications = 0;
  reader.onNotice(EVENTS, () => notifications++);
  await until('it listens', () => notifications === 1);
  for (let i = 1; i <= 3; i++) await db.write(tx => tx.appendNumbered(event));
  await until('the events are announced', () => notifications === 4);
  // As a restore of the database does.
  await db.write(async tx => {
    await tx.run('DELETE FROM events WHERE id > 1');
    await tx.run('UPDATE event_log SET last_id = 1');
  });
  await reader.numberEvents();
  assert.deepEqual(valuesOf(continued, 'known', 'lastSurvivor'), [[3, 1]]);
  await until('the new range is announced', () => notifications === 5);
});

it('events on PostgreSQL reach a process by notifications again after its connections broke', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { db, openAgain, url } = await openPostgresStore(t);
  const proxy = await DatabaseProxy.between(t, url);
  const reader = await openAgain({ url: proxy.url });
  let notifications = 0;
  reader.onNotice(EVENTS, () => notifications++);
  const isNotified = (cause: string, before = notifications) => until(cause, () => notifications > before);
  await isNotified('it listens');
  proxy.cut();
  await isNotified('it listens again');
  await db.write(async tx => tx.append(event));
  await isNotified('the event is announced');
});
