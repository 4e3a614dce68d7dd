import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import pg from 'pg';
import { StoreUnavailable, UnusableStore } from '../../src/db/database.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { DAY } from '../../src/kit/clock.ts';
import { DatabaseProxy } from '../support/database-proxy.ts';
import { emptyPostgres, postgresOptions } from '../support/engines.ts';
import { listenLocally } from '../support/local-server.ts';
import { administer } from '../support/test-store.ts';
import { inTime, until } from '../support/until.ts';

/** Fails to open a database, and returns the message of the error. */
async function rejectionOf(
  url: string,
  kind: typeof UnusableStore | typeof StoreUnavailable = UnusableStore,
): Promise<string> {
  let text = '';
  await assert.rejects(openPostgres(postgresOptions(url)), (error: Error) => {
    assert.ok(error instanceof kind, String(error));
    text = error.message;
    return true;
  });
  return text;
}

it('a database that is temporarily read-only is opened when its schema is up to date, and is otherwise unavailable', async t => {
  const url = await emptyPostgres(t);
  const name = new URL(url).pathname.slice(1);
  const alter = (change: string) => administer(session => session.query(`ALTER DATABASE ${name} ${change}`));
  await alter('SET default_transaction_read_only = on');
  assert.match(await rejectionOf(url, StoreUnavailable), /cannot be used \(.*read-only transaction/);
  await alter('RESET default_transaction_read_only');
  await (await openPostgres(postgresOptions(url))).close();
  await alter('SET default_transaction_read_only = on');
  await (await openPostgres(postgresOptions(url))).close();
});

it('a migration, and the wait for that of another replica, have no time limit', async t => {
  const { mock } = t.mock.method(pg.Client.prototype, 'query');
  await (await openPostgres(postgresOptions(await emptyPostgres(t)))).close();
  const sent = mock.calls.map(call => call.arguments[0] as { text?: string; query_timeout?: number });
  for (const part of ['CREATE TABLE pets', 'advisory']) {
    const { query_timeout: limit } = sent.find(({ text }) => text?.includes(part))!;
    assert.ok(limit! > DAY, part);
  }
});

it('a server that does not confirm the end of a connection does not keep a start waiting', async t => {
  const network = await DatabaseProxy.between(t, await emptyPostgres(t));
  network.dropsEnds = true;
  const db = await inTime('the start', openPostgres(postgresOptions(network.url)));
  assert.deepEqual(await db.all('SELECT id FROM pets'), []);
  network.cut();
  await db.close();
});

describe('a server that cannot be used is rejected with its reason:', () => {
  it('a database in another encoding', async t => {
    const url = await emptyPostgres(t, "ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    assert.equal(
      await rejectionOf(url),
      'The encoding of the database must be UTF8, but is SQL_ASCII: create another database',
    );
  });

  it('and its connections are closed, also those that look for the primary', async t => {
    const url = await emptyPostgres(t, "ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    const several = new URL(url);
    several.searchParams.set('target_session_attrs', 'read-write');
    assert.match(await rejectionOf(several.href), /must be UTF8/);
    const name = several.pathname.slice(1);
    const count = 'SELECT count(*)::int AS open FROM pg_stat_activity WHERE datname = $1';
    const open = () => administer(async session => (await session.query(count, [name])).rows[0].open);
    await until('its connections are closed', async () => (await open()) === 0);
  });

  it('one that is older than PostgreSQL 15', async t => {
    const url = await emptyPostgres(t);
    const { query } = pg.Client.prototype;
    t.mock.method(
      pg.Client.prototype,
      'query',
      function (this: pg.Client, ...args: Parameters<typeof query>) {
        const response: unknown = query.apply(this, args);
        if (!String(args[0]).includes('server_version_num')) return response;
        return (response as Promise<pg.QueryResult>).then(() => ({
          rows: [{ version: 140_009, encoding: 'UTF8' }],
        }));
      },
    );
    assert.match(
      await rejectionOf(url),
      /^PostgreSQL 15 or newer is required; the server has version 140009$/,
    );
  });

  it('one that accepts connections and never responds, within a few seconds', async t => {
    // Reading the bytes lets its socket close with the client's.
    const silent = createServer(socket => void socket.on('error', () => {}).resume());
    const { host } = new URL(await listenLocally(t, silent));
    const startedAt = performance.now();
    const url = `postgres://shop@${host}/petstore`;
    assert.match(await rejectionOf(url, StoreUnavailable), /cannot be used \(.*timeout/);
    assert.ok(performance.now() - startedAt < 15_000);
  });
});
