import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { numberAfter } from '../../src/commands/continue-log.ts';
import { UsageError } from '../../src/commands/failure.ts';
import { continuePostgres } from '../../src/db/continue-postgres.ts';
import { type Database, one, StoreUnavailable } from '../../src/db/database.ts';
import { continueEmbedded } from '../../src/db/event-ranges.ts';
import { EVENTS } from '../../src/db/notices.ts';
import { LOCK } from '../../src/db/postgres-locks.ts';
import { type ContinuedLog, RELAY_LOCK } from '../../src/db/postgres-relay.ts';
import { storePath } from '../../src/db/store-directory.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { DatabaseProxy, withoutConnectTimeout } from '../support/database-proxy.ts';
import { openEmbedded } from '../support/embedded-store.ts';
import { emptyPostgres, openPostgresStore } from '../support/engines.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { assertInvariants } from '../support/invariants.ts';
import { takeBack } from '../support/restored-log.ts';
import { assertExplained, dataDirectory, run, serve } from '../support/service-process.ts';
import { startTestApp } from '../support/test-app.ts';
import { rowsIn, withSession } from '../support/test-store.ts';
import { inTime, until } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';

const FIRST = 1_000_000_001;

const APPEND =
  "INSERT INTO new_events (type, subject, time, data, actor) VALUES ('pet.updated', 'pets/1', 0, '{}', 'system')";

const WAITING = `
  SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

describe('continue-log on PostgreSQL', () => {
  it('starts a range with log.restored, in which events of the backup without a number get one', async t => {
    const { db, url, openAgain } = await openPostgresStore(t);
    await db.write(async tx =>
      tx.append({ type: 'pet.updated', subject: 'pets/1', actor: 'system', data: '{}' }),
    );
    await db.numberEvents();
    await db.close();
    // Without a service nothing numbers it.
    await withSession(url, session => session.query(APPEND));
    const { code, stdout, stderr } = await run(t, ['continue-log'], { DATABASE_URL: url });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^The event log continues after event 1 with event 1000000001, log\.restored: /);
    const again = await openAgain();
    await again.numberEvents();
    const events = await again.all<{ id: number; type: string }>('SELECT id, type FROM events ORDER BY id');
    assert.deepEqual(valuesOf(events, 'id', 'type'), [
      [1, 'pet.updated'],
      [FIRST, 'log.restored'],
      [FIRST + 1, 'pet.updated'],
    ]);
    await assertInvariants(sql => again.all(sql));
    await again.close();
  });

  it('waits while events get numbers, whatever the time limits of the database, and loses none', async t => {
    const { db, url } = await openPostgresStore(t);
    await db.close();
    await withSession(url, relay =>
      withSession(url, async observer => {
        await relay.query('BEGIN');
        await relay.query(LOCK, [RELAY_LOCK]);
        await relay.query('UPDATE event_log SET last_id = last_id + 1');
        await relay.query(
          "INSERT INTO events (id, type, subject, time, data, actor) VALUES (1, 'x', 'pets/1', 0, '{}', 'system')",
        );
        const limited = new URL(url);
        limited.searchParams.set('options', '-c lock_timeout=1ms');
        const continuing = continuePostgres(limited.href, { after: 0, now: Date.now() });
        const waits = until('it waits', async () => ((await observer.query(WAITING)).rowCount ?? 0) > 0);
        await Promise.race([waits, continuing]);
        await relay.query('COMMIT');
        assert.deepEqual(await inTime('the end', continuing), { lastSurvivor: 1, first: FIRST });
      }),
    );
  });

  it('finds the primary if DATABASE_URL names several servers', async t => {
    const { db, url } = await openPostgresStore(t);
    await db.close();
    const { host } = new URL(url);
    const several = `${url.replace(host, `127.0.0.1:1,${host}`)}&target_session_attrs=read-write`;
    const continued = await continuePostgres(several, { after: 0, now: Date.now() });
    assert.deepEqual(continued, { lastSurvivor: 0, first: FIRST });
  });

  it('rejects a database without a shop, as other commands do, and creates nothing in it', async t => {
    const url = await emptyPostgres(t);
    const ended = await run(t, ['continue-log'], { DATABASE_URL: url });
    assertExplained(ended, /^The database \S+ contains no shop: restore the backup first\n$/);
    for (const command of [['check'], ['keys', 'list']])
      assertExplained(
        await run(t, command, { DATABASE_URL: url }),
        /^The database \S+ contains no shop: check the name of the database in DATABASE_URL, or start /,
      );
    assert.deepEqual(await rowsIn(url, "SELECT 1 FROM pg_tables WHERE schemaname = 'public'"), []);
  });

  it('allows a server two seconds to respond to a connection, as the service does', async t => {
    const network = await DatabaseProxy.between(t, await emptyPostgres(t));
    network.goSilent();
    const { setTimeout } = globalThis;
    const delays: number[] = [];
    t.mock.method(globalThis, 'setTimeout', (run: () => void, delay: number) => {
      delays.push(delay);
      return setTimeout(run, delay === 2 * SECOND ? 1 : delay);
    });
    const url = withoutConnectTimeout(network.url);
    for (const one of [url, `${url}?target_session_attrs=read-write`]) {
      await assert.rejects(continuePostgres(one, { after: 0, now: Date.now() }), StoreUnavailable);
      assert.ok(delays.splice(0).includes(2 * SECOND), one);
    }
  });

  it('reports a server that cannot be reached', async t => {
    const url = 'postgres://petstore@127.0.0.1:1/petstore';
    const ended = await run(t, ['continue-log'], { DATABASE_URL: url });
    assertExplained(
      ended,
      /^The database \S+ cannot be used \(connect ECONNREFUSED [^)]+\): check that the server runs/,
      1,
    );
  });
});

describe('a PostgreSQL database that was returned to an earlier state while processes use it', () => {
  const append = (db: Database, count: number) =>
    db.write(async tx => {
      for (let i = 0; i < count; i++)
        tx.append({ type: 'pet.updated', subject: 'pets/1', actor: 'system', data: '{}' });
    });

  it('continues in a new range by itself, without another event', async t => {
    const continued: ContinuedLog[] = [];
    const { db } = await openPostgresStore(t, { onContinued: log => continued.push(log) });
    await append(db, 5);
    await db.numberEvents();
    await takeBack(db, 3);
    await until('the log continues', () => continued.length === 1);
    const { id } = await one<{ id: number }>(db, 'SELECT max(id) AS id FROM events');
    assert.equal(id, FIRST);
  });

  for (const who of ['numbered the lost events', 'was notified of the lost events'])
    it(`continues in a new range when a process that ${who} numbers the next events`, async t => {
      const continued: ContinuedLog[] = [];
      const { db: here, openAgain } = await openPostgresStore(t, {
        onContinued: log => continued.push(log),
        onStatus: status => assert.fail(`The database is ${status}`),
      });
      const there = await openAgain();
      let calls = 0;
      there.onNotice(EVENTS, () => calls++);
      await until('it listens', () => calls > 0);
      const before = calls;
      await append(here, 5);
      await here.numberEvents();
      await until('it was notified', () => calls > before);
      await takeBack(here, 3);
      const next = who.startsWith('numbered') ? here : there;
      const appended = await Promise.allSettled([
        append(next, 2),
        next.write(tx =>
          tx.appendNumbered({ type: 'webhook.test', subject: 'webhooks/1', actor: 'system', data: '{}' }),
        ),
      ]);
      await next.numberEvents();
      const ids = (await next.all<{ id: number }>('SELECT id FROM events ORDER BY id')).map(({ id }) => id);
      assert.ok(
        appended.every(it => it.status === 'fulfilled' || /just returned to an earlier/.test(it.reason)),
      );
      const inRange = appended.filter(({ status }) => status === 'fulfilled').length + 2;
      assert.deepEqual(ids, [1, 2, 3, ...Array.from({ length: inRange }, (_, i) => FIRST + i)]);
      // The other process can have continued the log, and still wait for the response to its COMMIT.
      await until('the process that continued the log reports it', () => continued.length > 0);
      assert.deepEqual(continued, [{ known: 5, lastSurvivor: 3, first: FIRST }]);
      await assertInvariants(sql => next.all(sql));
    });
});

it('every process adds the words of new names again that a PostgreSQL database lost when it was returned to an earlier state', async t => {
  const shop = await startTestApp(t, { shared: true });
  shop.expectErrors(/The database was returned to an earlier state/);
  const { db } = shop.app;
  const categoryId = await aCategory(shop.api);
  const replicas = [shop, await shop.replica()];
  for (const { app, api } of replicas) {
    await aPet(api, { name: 'Biscuit', categoryId });
    await app.sweeper.run();
  }
  await takeBack(db, 1);
  for (const { app, api } of replicas) {
    await db.run('TRUNCATE words, word_variants');
    await app.db.numberEvents();
    await aPet(api, { name: 'Biscuit', categoryId });
    assert.deepEqual(await db.all('SELECT word FROM words'), [{ word: 'biscuit' }]);
  }
});

describe('continue-log on the embedded store', () => {
  it('starts a range after the last event or the number of --after, next to a service', async t => {
    const directory = dataDirectory(t);
    const environment = { PETSTORE_DATA: directory };
    const service = await serve(t, directory);
    const first = await run(t, ['continue-log'], environment);
    assert.match(first.stdout, /^The event log continues after event 1 with event 1000000001, /);
    const second = await run(t, ['continue-log', '--after', '3000000000'], environment);
    assert.match(second.stdout, /^The event log continues after event 1000000001 with event 4000000001, /);
    assert.deepEqual(valuesOf((await service.api.get('/events')).body, 'id'), [
      '1',
      '1000000001',
      '4000000001',
    ]);
  });

  it('flushes the range to disk, as the service does its commits', async t => {
    const directory = dataDirectory(t);
    await openEmbedded(t, { directory }).close();
    const { close } = BetterSqlite3.prototype;
    const flushes: unknown[] = [];
    t.mock.method(BetterSqlite3.prototype, 'close', function (this: BetterSqlite3.Database) {
      flushes.push(this.pragma('synchronous', { simple: true }));
      return close.call(this);
    });
    continueEmbedded(storePath(directory), { after: 0, now: Date.now() });
    assert.deepEqual(flushes, [2]);
  });

  it('rejects a directory without a store, and numbers that are no event', async t => {
    const directory = dataDirectory(t);
    const none = await run(t, ['continue-log'], { PETSTORE_DATA: join(directory, 'none') });
    assertExplained(none, /^There is no store in /);
    const complaint = '--after must be the number of an event, at most 9007197254740991, but was ';
    for (const text of ['x', '-1', '1.5', '', '9007197254740992', '99999999999999999999'])
      assert.throws(() => numberAfter(text), new UsageError(`${complaint}${JSON.stringify(text)}`));
    assert.equal(numberAfter('9007197254740991'), 9_007_197_254_740_991);
    for (const command of [['continue-log'], ['new-store'], ['restore', 'backup.db']]) {
      const { code, stderr } = await run(t, [...command, '--after', '-1'], { PETSTORE_DATA: directory });
      assert.deepEqual([code, stderr], [2, `${complaint}"-1"\n`], String(command));
    }
  });
});
