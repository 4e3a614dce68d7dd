import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database, Value } from '../../src/db/database.ts';
import { settledCursor } from '../support/event-log.ts';
import { EventReader } from '../support/event-reader.ts';
import { appendMany } from '../support/many-events.ts';
import { startTestApp } from '../support/test-app.ts';

const EVENTS = 2_000;

/** A catch-up reads 100 events per page. */
const PAGES = EVENTS / 100;

const path = '/events/stream?cursor=0&type=pet.updated';

/** Counts the reads of filtered pages, and how many run at the same time. */
function watchReads(db: Database): { total: number; most: number } {
  const reads = { total: 0, most: 0 };
  let running = 0;
  const all = db.all.bind(db);
  db.all = async (sql: string, values?: readonly Value[]) => {
    if (!sql.includes('of_type')) return all(sql, values);
    reads.total++;
    reads.most = Math.max(reads.most, ++running);
    // Long enough for other reads to start, if they were allowed to.
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    try {
      return await all(sql, values);
    } finally {
      running--;
    }
  };
  return reads;
}

describe('streams that are behind', () => {
  it('read the log two at a time, and all of them get every event', async t => {
    const shop = await startTestApp(t);
    await appendMany(shop.app, EVENTS);
    await settledCursor(shop);
    const reads = watchReads(shop.app.db);
    const readers = await Promise.all(
      Array.from({ length: 8 }, () => EventReader.open(shop.origin, shop.adminKey, { path })),
    );
    await Promise.all(readers.map(reader => reader.untilEvents(EVENTS)));
    assert.equal(reads.most, 2);
    await Promise.all(readers.map(reader => reader.close()));
  });

  it('stop reading when their clients disconnect', async t => {
    const shop = await startTestApp(t);
    await appendMany(shop.app, EVENTS);
    await settledCursor(shop);
    const reads = watchReads(shop.app.db);
    const readers = await Promise.all(
      Array.from({ length: 4 }, () => EventReader.open(shop.origin, shop.adminKey, { path })),
    );
    await readers[0]!.untilEvents(1);
    await Promise.all(readers.map(reader => reader.close()));
    let seen = -1;
    while (seen !== reads.total) {
      seen = reads.total;
      for (let turn = 0; turn < 50; turn++) await nextTurn();
    }
    assert.ok(reads.total < PAGES, `${reads.total} reads after the clients disconnected`);
  });
});
