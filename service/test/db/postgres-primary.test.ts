import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Client, type QueryResult } from 'pg';
import { Primary, primaryOf } from '../../src/db/postgres-primary.ts';
import { DatabaseProxy } from '../support/database-proxy.ts';
import { emptyPostgres, openPostgresStore } from '../support/engines.ts';
import { administer, endConnections, urlOf } from '../support/test-store.ts';
import { inTime } from '../support/until.ts';

it('of two servers that accept writes the one with the higher timeline is the primary, and a lower one never is again', async t => {
  const database = urlOf('postgres');
  const [first, second] = [
    await DatabaseProxy.between(t, database),
    await DatabaseProxy.between(t, database),
  ];
  const portOf = ({ url }: { url: string }) => Number(new URL(url).port);
  /** By port, as the servers report them: `null` while a server accepts no writes. */
  const timelines = new Map<number, number | null>();
  const asked = new Map<number, () => void>();
  let reachable = 2;
  let responded: Promise<void> | undefined;
  /**
   * The server with the higher timeline responds last, but in the same turn: in a later turn, a busy machine could exceed the time for
   * which `find` waits.
   */
  const respondInOrder = async () => {
    const ports = [...asked.keys()].toSorted((a, b) => (timelines.get(a) ?? 0) - (timelines.get(b) ?? 0));
    const responses = ports.map(port => asked.get(port)!);
    asked.clear();
    for (const respond of responses) {
      respond();
      await new Promise<void>(resolve => process.nextTick(resolve));
    }
  };
  const query = Client.prototype.query as (sql: string) => Promise<QueryResult>;
  t.mock.method(Client.prototype, 'query', async function (this: Client, sql: string) {
    const response = await query.call(this, sql);
    if (!sql.includes('AS timeline')) return response;
    const { promise, resolve } = Promise.withResolvers<void>();
    if (asked.set(this.port, resolve).size === reachable) responded = respondInOrder();
    await promise;
    return { rows: [{ timeline: timelines.get(this.port) }] };
  });
  const { username, pathname } = new URL(database);
  const hosts = [first, second].map(server => `127.0.0.1:${portOf(server)}`).join(',');
  const primary = new Primary(`postgres://${username}@${hosts}${pathname}?target_session_attrs=read-write`);
  t.after(() => primary.close());
  /** Which server is the primary when they have these timelines. */
  const primaryWith = async (ofFirst: number | null, ofSecond: number | null) => {
    timelines.set(portOf(first), ofFirst).set(portOf(second), ofSecond);
    await inTime('the primary', primary.find());
    await responded;
    return portOf(primary) === portOf(first) ? 'first' : 'second';
  };
  assert.equal(await primaryWith(1, null), 'first');
  assert.equal(await primaryWith(null, 2), 'second', 'a failover');
  assert.equal(await primaryWith(1, 2), 'second', 'the former primary runs again');
  assert.equal(await primaryWith(1, null), 'second', 'and is the only one that accepts writes');
  assert.equal(await primaryWith(3, 2), 'first', 'another failover');
  assert.equal(await primaryWith(null, 2), 'first');
  assert.equal(await primaryWith(null, 3), 'second', 'the timeline of the last primary');
  assert.equal(await primaryWith(2, 1), 'second', 'neither follows the last primary');
  assert.equal(await primaryWith(4, 4), 'second', 'the same timeline is no reason to change');
  await assert.rejects(
    primaryWith(null, null),
    ({ errors }: AggregateError) => errors.every(({ message }) => message.endsWith('accepts no writes')),
    'neither accepts writes',
  );
  assert.equal(await primaryWith(5, 4), 'first');
  await first.reject();
  reachable = 1;
  assert.equal(await primaryWith(5, 5), 'second', 'the first does not respond');
  await first.accept();
  reachable = 2;
  assert.equal(await primaryWith(6, 5), 'first', 'it is asked again on another connection');
});

it('a server whose transactions are read-only by default is not the primary', async t => {
  const url = new URL(await emptyPostgres(t));
  url.searchParams.set('target_session_attrs', 'read-write');
  const alter = (change: string) =>
    administer(session => session.query(`ALTER DATABASE ${url.pathname.slice(1)} ${change}`));
  await alter('SET default_transaction_read_only = on');
  await assert.rejects(primaryOf(url.href), ({ errors }: AggregateError) =>
    /accepts no writes$/.test(errors[0].message),
  );
  await alter('RESET default_transaction_read_only');
  await primaryOf(url.href);
});

it('a read that waits for a former primary which hangs fails as soon as another server is the primary', async t => {
  const { name, url, openAgain } = await openPostgresStore(t);
  const [first, second] = [await DatabaseProxy.between(t, url), await DatabaseProxy.between(t, url)];
  const portOf = (server: { url: string }) => Number(new URL(server.url).port);
  let isPromoted = false;
  const query = Client.prototype.query as (sql: string) => Promise<QueryResult>;
  t.mock.method(Client.prototype, 'query', async function (this: Client, ...args: [string]) {
    const response = await query.apply(this, args);
    if (!String(args[0]).includes('AS timeline')) return response;
    const ofSecond = isPromoted ? 2 : null;
    return { rows: [{ timeline: this.port === portOf(first) ? 1 : ofSecond }] };
  });
  const several = new URL(first.url);
  several.searchParams.set('target_session_attrs', 'read-write');
  const hosts = `${several.host},127.0.0.1:${portOf(second)}`;
  const primaries: string[] = [];
  const db = await openAgain({
    url: several.href.replace(several.host, hosts),
    onPrimary: found => primaries.push(found),
  });
  assert.deepEqual(await db.get('SELECT 1 AS one'), { one: 1 });
  first.goSilent();
  const read = db.get('SELECT 1 AS one');
  isPromoted = true;
  try {
    // A statement may take 30 s.
    await inTime('the end of the read', assert.rejects(read, /cannot be reached/), 20);
    assert.deepEqual(
      primaries.map(found => new URL(found).port),
      [String(portOf(second))],
    );
    assert.deepEqual(await db.get('SELECT 2 AS two'), { two: 2 });
  } finally {
    // Through the silent network, the server does not notice that a connection has ended.
    await endConnections(name);
  }
});
