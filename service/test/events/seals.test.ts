import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { hash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { Database, Statements } from '../../src/db/database.ts';
import { verifySeals } from '../../src/db/verify-seals.ts';
import * as eventLog from '../../src/events/event-log/event-log.ts';
import { readSealedGroups } from '../../src/events/event-log/sealed-log.ts';
import { DAY } from '../../src/kit/clock.ts';
import { aCategory } from '../support/factories.ts';
import { appendMany } from '../support/many-events.ts';
import { pagesOf } from '../support/pages.ts';
import { continueLogOf } from '../support/restored-log.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { forgeriesOf } from './forgeries.ts';

/** A log of several groups, some of which have several events, and one that has undone events. */
async function aLog(t: Parameters<typeof startTestApp>[0]): Promise<TestApp> {
  const shop = await startTestApp(t);
  // PostgreSQL numbers, and seals together, what is committed within some milliseconds.
  await shop.app.db.numberEvents();
  await appendGroups(shop);
  assert.deepEqual(await verifySeals(shop.app.db), [], 'a log that is as it was written');
  return shop;
}

/** Appends groups of one, four and one events. */
async function appendGroups({ app, api }: TestApp): Promise<void> {
  await aCategory(api);
  await app.db.numberEvents();
  const create = (name: string) => ({ method: 'POST', path: '/categories', body: { name } });
  const mark = randomUUID();
  const operations = [`A ${mark}`, 'B', 'b', 'C', 'D'].map(name => create(`${name} ${mark}`));
  assert.equal((await api.post('/batch', { atomic: false, operations })).status, 200);
  await app.db.numberEvents();
  await aCategory(api);
  await app.db.numberEvents();
}

const [, program] = /```python\n(.*?)```/s.exec(readFileSync('docs/seals.md', 'utf8'))!;

/** Runs the program of docs/seals.md, and returns what it prints. */
function runProgram({ origin, adminKey }: TestApp, checkpoints: string[] = []): Promise<string> {
  const env = { ...process.env, PETSTORE_URL: origin, PETSTORE_API_KEY: adminKey };
  return promisify(execFile)('python3', ['-c', program!, ...checkpoints], { env }).then(
    ({ stdout }) => stdout.trim(),
    ({ stderr }) => stderr.trim(),
  );
}

const newestId = async (db: Database) =>
  (await db.get<{ id: number }>('SELECT max(last_id) AS id FROM event_seals'))!.id;

/** Logs that have no other faults, and end with the groups that are forged. */
const logs: Record<string, (shop: TestApp) => Promise<unknown>> = {
  'a new log': async () => {},
  'a log that continued after a restore': async shop => {
    await continueLogOf(shop);
    await appendGroups(shop);
  },
  'a log whose earlier events have expired': async shop => {
    const { app, api, clock } = shop;
    clock.advance(DAY);
    const begin = clock.now();
    await aCategory(api);
    await app.db.numberEvents();
    await appendGroups(shop);
    while (await eventLog.expire(app.db, begin - 1));
  },
  'a log whose log.restored has expired': async shop => {
    await continueLogOf(shop);
    await logs['a log whose earlier events have expired']!(shop);
  },
};

describe('the seals of the log', () => {
  for (const [log, prepare] of Object.entries(logs)) {
    it(`show every forgery of ${log}, and the first event that differs`, async t => {
      const shop = await aLog(t);
      const { db } = shop.app;
      await prepare(shop);
      assert.deepEqual(await verifySeals(db), []);
      const newest = await newestId(db);
      for (const [name, [forge, finding]] of Object.entries(forgeriesOf(place => newest - 7 + place))) {
        const undone = new Error('undone');
        const check = db.write(async tx => {
          await forge(tx);
          const [first, ...more] = await verifySeals(tx);
          assert.match(first ?? 'nothing', new RegExp(`^${finding}`), name);
          assert.deepEqual(more, []);
          throw undone;
        });
        await assert.rejects(check, undone);
      }
      assert.deepEqual(await verifySeals(db), []);
    });
  }

  it('are not about an event that was undone, although it was the last one of its transaction', async t => {
    const { app } = await startTestApp(t);
    const event = { type: 'pet.updated', subject: 'pets/1', actor: 'system', data: '{}' };
    const kept = app.db.write(async tx => tx.append(event));
    const undone = app.db.write(async tx => {
      tx.append(event);
      throw new Error('planted');
    });
    await Promise.all([kept, assert.rejects(undone, /planted/)]);
    await app.db.numberEvents();
    assert.deepEqual(await verifySeals(app.db), []);
  });

  it('are verified in turns of the event loop, so that Ctrl-C ends it: here in a log of a thousand expired groups', async () => {
    const stop = new AbortController();
    let reads = 0;
    const all = async (_: string, [last, end]: number[]) => {
      const id = last! + 1;
      return end === undefined && reads++ < 1_000 ? [{ first_id: id, last_id: id, digests: null }] : [];
    };
    const get = async () => ({ latest: 1_000, oldest: null, newest: null });
    const verify = () => verifySeals({ all, get } as never, { signal: stop.signal });
    assert.deepEqual(await verify(), []);
    reads = 0;
    setImmediate(() => stop.abort(new Error('Ctrl-C')));
    await assert.rejects(verify(), /^Error: Ctrl-C$/);
  });

  it('are read and verified no further after an abort', async t => {
    const { app } = await aLog(t);
    const signal = AbortSignal.abort(new Error('Ctrl-C'));
    await assert.rejects(verifySeals(app.db, { signal }), /^Error: Ctrl-C$/);
    await assert.rejects(readSealedGroups(app.db, { after: 0, limit: 1, closed: signal }), /^Error: Ctrl-C$/);
  });

  it('compare with checkpoints, which show a log that was written anew', async t => {
    const { app, api } = await aLog(t);
    const ofNoEvents = { id: 0, seal: '0'.repeat(64) };
    assert.deepEqual(await verifySeals(app.db, { checkpoints: [ofNoEvents] }), []);
    const { body } = await api.get('/events/checkpoint');
    assert.equal(Number(body.id), await newestId(app.db));
    const checkpoint = { id: Number(body.id), seal: body.seal };
    await aCategory(api);
    await app.db.numberEvents();
    assert.deepEqual(await verifySeals(app.db, { checkpoints: [checkpoint] }), []);
    const [other] = await verifySeals(app.db, { checkpoints: [{ ...checkpoint, seal: 'a'.repeat(64) }] });
    assert.match(other!, /^Checkpoint 7: the seal is [0-9a-f]{64}, so an event up to 7 was changed/);
    const [missing] = await verifySeals(app.db, { checkpoints: [{ ...checkpoint, id: 4 }] });
    assert.match(missing!, /^Checkpoint 4: no group of the log ends with event 4/);
  });

  it('are about the values of an event in the documented order, and have the time of their group', async t => {
    const { app, api, clock } = await startTestApp(t);
    await app.db.numberEvents();
    // Seals that were written or noted with another release depend on this order (docs/seals.md).
    const event = {
      ...{ type: 'pet.updated', subject: 'pets/1', time: clock.now() - DAY, actor: 'keys/2' },
      requestId: 'r-3',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      ...{
        name: 'Rex',
        related: 'categories/4',
        reason: 'order.created',
        note: 'Sold',
        oldValues: '{"a":5}',
      },
      data: '{"a":6}',
    };
    await app.db.write(async tx => tx.append(event));
    await app.db.numberEvents();
    const [before, group] = (await api.get('/events/seals')).body.slice(-2);
    const text = [group.lastId, ...Object.values(event)].map(value => `${value}\n`).join('');
    assert.deepEqual(group.events, [text]);
    assert.equal(group.seal, hash('sha256', `${before.seal}\n${hash('sha256', text)}\n`));
    const time = new Date(clock.now()).toISOString();
    assert.deepEqual([group.time, (await api.get('/events/checkpoint')).body.time], [time, time]);
    assert.deepEqual((await api.get(`/events/seals?limit=1&cursor=${before.lastId - 1}`)).body, [before]);
  });

  it('stay when events expire, which happens by whole groups', async t => {
    const shop = await aLog(t);
    const { app, api, clock } = shop;
    // More than expire at once, in groups that do not end where a slice does.
    await appendMany(app, 2_500);
    await app.db.numberEvents();
    const before = await newestId(app.db);
    clock.advance(DAY);
    await aCategory(api);
    await app.db.numberEvents();
    let slices = 0;
    for (let isMore = true; isMore; slices++) {
      isMore = await eventLog.expire(app.db, clock.now() - 1);
      assert.deepEqual(await verifySeals(app.db), [], 'after each slice');
    }
    assert.ok(slices > 2);
    const oldest = await app.db.get<{ id: number }>('SELECT min(id) AS id FROM events');
    assert.equal(oldest?.id, before + 1);
    assert.deepEqual(await verifySeals(app.db), []);
    const undone = new Error('undone');
    const check = app.db.write(async tx => {
      await tx.run('DELETE FROM events WHERE id = ?', [before + 1]);
      assert.match((await verifySeals(tx))[0]!, new RegExp(`^Event ${before + 1} was removed`));
      throw undone;
    });
    await assert.rejects(check, undone);
  });

  it('are not marked as expired if the events cannot be deleted', async t => {
    const { app, clock } = await aLog(t);
    const { db } = app;
    const failDeletions = (queries: Statements) => {
      const run = queries.run.bind(queries);
      t.mock.method(queries, 'run', async (...query: Parameters<typeof run>) => {
        if (query[0].startsWith('DELETE FROM events')) throw new Error('planted');
        return run(...query);
      });
    };
    const write = db.write.bind(db);
    t.mock.method(db, 'write', (work: Parameters<typeof write>[0]) =>
      write(async tx => {
        failDeletions(tx);
        return work(tx);
      }),
    );
    failDeletions(db);
    await assert.rejects(eventLog.expire(db, clock.now() + 1), /planted/);
    assert.deepEqual(await verifySeals(db), []);
  });

  it('are read in short slices and pages of limited length, without a gap, and the last page has no successor', async t => {
    const { app, api } = await startTestApp(t, { alone: false });
    const data = JSON.stringify({ text: 'x'.repeat(10_000) });
    for (let group = 0; group < 5; group++) {
      await appendMany(app, 60, { data });
      await app.db.numberEvents();
    }
    const all = app.db.all.bind(app.db);
    let most = 0;
    t.mock.method(app.db, 'all', async (...query: Parameters<typeof all>) => {
      const rows = await all(...query);
      if (query[0].includes('FROM events WHERE id >= ? AND id <= ?')) most = Math.max(most, rows.length);
      return rows;
    });
    const groups: { firstId: string; lastId: string; previous: string; seal: string; events: string[] }[] =
      [];
    const lengths: number[] = [];
    for await (const { body, text } of pagesOf(api, '/events/seals')) {
      groups.push(...body);
      lengths.push(text.length);
    }
    assert.equal(most, 50);
    assert.ok(lengths.length > 1 && Math.max(...lengths) < 2_000_000, String(lengths));
    for (const [i, group] of groups.entries()) {
      assert.equal(group.previous, groups[i - 1]?.seal ?? '0'.repeat(64));
      assert.equal(Number(group.firstId), Number(groups[i - 1]?.lastId ?? 0) + 1);
      assert.deepEqual(
        group.events.map(event => Number(event.split('\n')[0])),
        Array.from(
          { length: Number(group.lastId) - Number(group.firstId) + 1 },
          (_, i) => Number(group.firstId) + i,
        ),
      );
    }
    const { lastId } = groups.at(-1)!;
    assert.equal(Number(lastId), await newestId(app.db));
    const end = await api.get(`/events/seals?cursor=${lastId}`);
    assert.deepEqual([end.body, end.headers.link], [[], undefined]);
  });

  it('are on a page with about as many events as one group may have', async t => {
    const { app, api } = await startTestApp(t, { alone: false });
    for (const count of [600, 600, 10]) {
      await appendMany(app, count);
      await app.db.numberEvents();
    }
    const counts: number[] = [];
    for await (const { body } of pagesOf(api, '/events/seals'))
      counts.push(body.flatMap(({ events }: { events: string[] }) => events).length);
    assert.ok(counts.length > 1 && Math.max(...counts) <= 1_000, String(counts));
  });

  it('are complete or marked as expired if their events expire while a page is read', async t => {
    const { app, api } = await startTestApp(t, { alone: false });
    await appendMany(app, 200);
    await app.db.numberEvents();
    const newest = await newestId(app.db);
    const all = app.db.all.bind(app.db);
    const { mock } = t.mock.method(app.db, 'all', async (...query: Parameters<typeof all>) => {
      const rows = await all(...query);
      if (query[0].includes('FROM events WHERE id >= ?')) {
        mock.restore();
        assert.equal(await eventLog.expire(app.db, Number.MAX_SAFE_INTEGER), true);
      }
      return rows;
    });
    const { body } = await api.get('/events/seals');
    assert.equal(body.at(-1).lastId, String(newest));
    for (const { expired, events } of body) assert.deepEqual([expired, events], [true, []]);
  });

  it('are verified over the API by the program of docs/seals.md, which finds a change', async t => {
    const shop = await aLog(t);
    const { app, api } = shop;
    assert.ok(program!.split('\n').length <= 60);
    const verify = (...checkpoints: string[]) => runProgram(shop, checkpoints);
    const { id, seal } = (await api.get('/events/checkpoint')).body;
    assert.equal(await verify(`0:${'0'.repeat(64)}`, `${id}:${seal}`), 'The log is as it was written');
    assert.match(await verify(`${id}:${'0'.repeat(64)}`), /the checkpoint differs/);
    const second = (await app.db.get<{ id: number }>(
      'SELECT min(last_id) AS id FROM event_seals WHERE first_id > 1',
    ))!.id;
    const mark = (digests: string) =>
      app.db.run(`UPDATE event_seals SET digests = ${digests} WHERE last_id = ${second}`);
    await mark('NULL');
    assert.match(await verify(), /^The group of event \d+ is marked as expired, but has or follows events$/);
    await mark("'00000000'");
    await app.db.run("UPDATE events SET actor = 'keys/9' WHERE id = 4");
    assert.match(await verify(), /^An event from \d+ to \d+ was changed$/);
    await app.db.run('DELETE FROM events WHERE id = 4');
    assert.match(await verify(), /^An event from \d+ to \d+ is missing$/);
  });

  for (const log of ['a log that continued after a restore', 'a log whose log.restored has expired']) {
    it(`are verified by that program in ${log}`, async t => {
      const shop = await aLog(t);
      await logs[log]!(shop);
      const { id, seal } = (await shop.api.get('/events/checkpoint')).body;
      assert.equal(await runProgram(shop, [`${id}:${seal}`]), 'The log is as it was written');
    });
  }

  it('are verified by that program, which finds that the event of a restore was removed', async t => {
    const shop = await aLog(t);
    const { first } = await continueLogOf(shop);
    await appendGroups(shop);
    for (const [table, column] of [
      ['events', 'id'],
      ['event_seals', 'first_id'],
    ])
      assert.equal(await shop.app.db.run(`DELETE FROM ${table} WHERE ${column} = ${first}`), 1);
    assert.equal(await runProgram(shop), 'The events before 1000000002 are missing');
  });
});
