import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, PoolClient } from 'pg';
import type { Database, WriteOptions } from '../../src/db/database.ts';
import { EVENTS } from '../../src/db/notices.ts';
import type { PostgresOptions } from '../../src/db/postgres.ts';
import { Confirmations } from '../../src/db/postgres-confirmations.ts';
import { Sockets } from '../../src/db/postgres-sockets.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { watchClients, withoutPauses } from '../support/database-clients.ts';
import { DatabaseProxy, withoutConnectTimeout } from '../support/database-proxy.ts';
import { openPostgresStore } from '../support/engines.ts';
import { listenLocally } from '../support/local-server.ts';
import { replaceDelay } from '../support/replace-delay.ts';
import { dataDirectory } from '../support/service-process.ts';
import { inTime, until } from '../support/until.ts';

const connectionsOf = (db: Database) => {
  const { open, idle } = db.load().connections!;
  return { open, idle };
};

/** A store that opens no connections by itself: its relay polls. */
function openWithoutPolls(t: TestContext, options?: Partial<PostgresOptions>) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  return openPostgresStore(t, options);
}

const streamOf = (client: Client) =>
  (client as Client & { connection: { stream: Socket } }).connection.stream;

describe('the connections for reads', () => {
  it('are a third of all, share the reads evenly, and are idle afterwards, also after failures', async t => {
    const { db } = await openWithoutPolls(t, { connections: 6 });
    const sleeping = "SELECT 1 AS one FROM pg_sleep(0.05), pg_database WHERE datname = 'postgres'";
    const reads = Promise.allSettled([sleeping, sleeping, 'SELECT 1 / 0', sleeping].map(sql => db.get(sql)));
    assert.deepEqual(connectionsOf(db), { open: 2, idle: 0 });
    await reads;
    assert.deepEqual(connectionsOf(db), { open: 2, idle: 2 });
    await Promise.all([1, 2].map(() => db.get(sleeping)));
    assert.deepEqual(connectionsOf(db), { open: 2, idle: 2 });
  });

  it('send the reads of one turn in one write, without waiting for responses', async t => {
    const { db } = await openWithoutPolls(t, { connections: 3 });
    const clients = watchClients(t);
    await db.get('SELECT 1 AS one');
    const writes = t.mock.method(streamOf(clients[0]!), '_writev' as never) as {
      mock: { callCount(): number };
    };
    await Promise.all([1, 2, 3].map(i => db.get('SELECT CAST(? AS INTEGER) AS i', [i])));
    assert.deepEqual([clients.length, writes.mock.callCount()], [1, 1]);
  });

  it('write nothing', async t => {
    const { db } = await openWithoutPolls(t);
    await assert.rejects(db.all('DELETE FROM pets RETURNING id'), /read-only/);
  });

  it('are closed and replaced when they have an error, each once', async t => {
    const { db } = await openWithoutPolls(t, { connections: 3 });
    const clients = watchClients(t);
    await db.get('SELECT 1 AS one');
    const [first] = clients as [Client];
    const ended = new Promise(resolve => first.once('end', resolve));
    first.emit('error', new Error('The connection broke'));
    assert.deepEqual(connectionsOf(db), { open: 0, idle: 0 });
    await db.get('SELECT 1 AS one');
    await inTime('the end of the connection that broke', ended);
    first.emit('error', new Error('A second error of the same connection'));
    assert.deepEqual([clients.length, connectionsOf(db)], [2, { open: 1, idle: 1 }]);
  });

  it('are replaced when they could not be opened', async t => {
    const { url, openAgain } = await openWithoutPolls(t);
    const proxy = await DatabaseProxy.between(t, url);
    const db = await openAgain({ url: proxy.url });
    await proxy.reject();
    await assert.rejects(db.get('SELECT 1 AS one'));
    assert.equal(connectionsOf(db).open, 0);
    await proxy.accept();
    assert.deepEqual(await db.get('SELECT 1 AS one'), { one: 1 });
  });
});

describe('the connections for writes', () => {
  /** Writes that wait, and the number of those that have begun. */
  function holdWrites(t: TestContext, db: Database, options?: WriteOptions) {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const held = { begun: 0 };
    const hold = async () => {
      held.begun++;
      await released;
    };
    const writes = Array.from({ length: 8 }, () => db.write(hold, options));
    t.after(() => release());
    return Object.assign(held, {
      end: async () => {
        release();
        await inTime('the end of all writes', Promise.all(writes));
      },
    });
  }

  it('are two thirds of all, however many writes there are', async t => {
    const { db } = await openWithoutPolls(t, { connections: 6, writeBatch: 1 });
    const held = holdWrites(t, db);
    await until('four writes have begun', () => held.begun === 4);
    assert.deepEqual(db.load(), { queued: 4, connections: { open: 4, idle: 0, most: 6 }, isUp: true });
    await db.get('SELECT 1 AS one');
    assert.deepEqual([held.begun, connectionsOf(db)], [4, { open: 5, idle: 1 }]);
    await held.end();
    assert.equal(held.begun, 8);
    assert.deepEqual(db.load(), { queued: 0, connections: { open: 5, idle: 5, most: 6 }, isUp: true });
  });

  it('serve at most two long writes and two groups, so that no kind of writes waits for another', async t => {
    const { db } = await openWithoutPolls(t, { connections: 6, writeBatch: 2 });
    const grouped = holdWrites(t, db);
    await until('two groups of two have begun', () => grouped.begun === 4);
    // The next group waits 25 ms for each of them.
    await sleep(100);
    assert.deepEqual([grouped.begun, connectionsOf(db)], [4, { open: 2, idle: 0 }]);
    const long = holdWrites(t, db, { alone: true });
    await until('two long writes have begun', () => long.begun === 2);
    await sleep(20);
    assert.deepEqual([long.begun, grouped.begun, connectionsOf(db)], [2, 4, { open: 4, idle: 0 }]);
    assert.equal(db.load().queued, 2 * 8 - 4);
    await Promise.all([long.end(), grouped.end()]);
    assert.deepEqual([long.begun, connectionsOf(db)], [8, { open: 4, idle: 4 }]);
    // Long writes take no more connections, although now all are free.
    const first = holdWrites(t, db, { alone: true });
    await until('two long writes have begun', () => first.begun === 2);
    await inTime(
      'another write',
      db.write(async () => {}),
    );
    assert.equal(first.begun, 2);
    await first.end();
  });

  it('keep the place of a commit that the server may still have, although the queue is full', async t => {
    const { db } = await openWithoutPolls(t, { maxQueue: 1 });
    const { mock } = t.mock.method(Confirmations.prototype, 'rejectUnconfirmed');
    const held = Promise.withResolvers<void>();
    const write = db.write(() => held.promise);
    const commit = Promise.withResolvers<void>();
    // The server ends the commit a turn after it has read the request to cancel it.
    t.mock.method(Sockets.prototype, 'requestCancel', async () => {
      setImmediate(commit.resolve);
      return true;
    });
    const steps: string[] = [];
    const released = Promise.withResolvers<void>();
    const client = {
      connection: { stream: { destroy: () => steps.push('destroyed') } },
      release: released.resolve,
    } as unknown as PoolClient;
    const confirmations = mock.calls[0]!.this as Confirmations;
    confirmations.discard(client, commit.promise, new Error('not confirmed'));
    try {
      await inTime('the place is free', released.promise);
    } finally {
      held.resolve();
      await inTime('the end of the write', write);
    }
    assert.deepEqual(steps, []);
  });

  it('wait for a server that does not respond for as long as connecting may take', async t => {
    const { url, openAgain } = await openWithoutPolls(t);
    const proxy = await DatabaseProxy.between(t, withoutConnectTimeout(url));
    const db = await openAgain({ url: proxy.url, statementSeconds: 60 });
    proxy.goSilent();
    const startedAt = performance.now();
    const rejection = assert.rejects(
      db.write(tx => tx.get('SELECT 1')),
      /cannot be reached/,
    );
    await inTime('the rejection of the write', rejection);
    assert.ok(performance.now() - startedAt < 10 * SECOND);
    proxy.restore();
    assert.deepEqual(await db.write(tx => tx.get('SELECT 1 AS one')), { one: 1 });
  });
});

describe('a store that is closed', () => {
  it('ends its connections, and cuts off none of them', async t => {
    const { db, openAgain, name, url } = await openWithoutPolls(t);
    const other = await openAgain({ url: `${url}&target_session_attrs=read-write` });
    await inTime('the other store listens', new Promise<void>(resolve => other.onNotice(EVENTS, resolve)));
    const cutOff = t.mock.method(Sockets.prototype, 'cutOff');
    const confirmations = t.mock.method(Confirmations.prototype, 'close');
    await Promise.all([db.get('SELECT 1 AS one'), db.get('SELECT 2 AS two'), db.run('DELETE FROM pets')]);
    // A busy server may take more than a second to close connections.
    replaceDelay(t, SECOND, 60 * SECOND);
    await inTime('the end of the store', db.close());
    // The connection that looks for the primary is the only one that is not ended in the usual way.
    assert.equal(cutOff.mock.callCount(), 1);
    assert.equal(confirmations.mock.callCount(), 1, 'commits are no longer probed');
    const left = await other.all<{ pid: number }>(
      'SELECT pid FROM pg_stat_activity WHERE datname = ? AND application_name = ?',
      [name, 'petstore'],
    );
    // Those of the other store: one for this read, and one that listens; the one that found the primary has ended.
    assert.equal(left.length, 2);
  });

  it('cuts off connections that the server does not close', async t => {
    const { db } = await openWithoutPolls(t);
    const clients = watchClients(t);
    await db.get('SELECT 1 AS one');
    const stream = streamOf(clients[0]!);
    // As when the server does not notice that this side has ended.
    t.mock.method(stream, 'end', () => stream);
    clients[0]!.emit('error', new Error('The connection broke'));
    withoutPauses(t);
    assert.equal(stream.destroyed, false);
    await inTime('the end of the store', db.close(), 10);
    assert.equal(stream.destroyed, true);
  });

  it('finishes the operations in progress, and rejects further ones', async t => {
    const { db } = await openWithoutPolls(t);
    const started = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const write = db.write(async tx => {
      started.resolve();
      await release.promise;
      return tx.get('SELECT 1 AS one');
    });
    await inTime('the start of the write', started.promise);
    const read = db.get('SELECT 2 AS two FROM pg_sleep(0.5)');
    const timers = t.mock.method(globalThis, 'setTimeout');
    const closed = db.close();
    const cutOffAfter = timers.mock.calls[0]?.arguments[1];
    timers.mock.restore();
    // The listener closes first.
    await until('reads are rejected', () =>
      db.get('SELECT 1 AS one').then(
        () => false,
        error => /being closed/.test(String(error.cause)),
      ),
    );
    release.resolve();
    const results = await inTime('the end of the write and the read', Promise.all([write, read]));
    assert.deepEqual(results, [{ one: 1 }, { two: 2 }]);
    await inTime('the end of the store', closed);
    // No response is later: a statement takes at most 30 s.
    assert.equal(cutOffAfter, 31 * SECOND);
    await assert.rejects(db.get('SELECT 1 AS one'), /cannot be reached/);
  });
});

describe('every connection', () => {
  it('has the time limits of the URL and the settings, and notices a network that is gone', async t => {
    const { db: first, url, openAgain } = await openPostgresStore(t);
    await first.close();
    const limited = new URL(url);
    limited.searchParams.set('connect_timeout', '7');
    limited.searchParams.set('target_session_attrs', 'read-write');
    const clients = watchClients(t);
    const db = await openAgain({ url: limited.href, statementSeconds: 20 });
    await Promise.all([db.get('SELECT 1 AS one'), db.tryWrite()]);
    const limits = clients.map(client => {
      const { _connectionTimeoutMillis, connectionParameters, connection } = client as Client & Limits;
      return {
        toConnect: _connectionTimeoutMillis,
        ofResponse: connectionParameters.query_timeout,
        staysAlive: connection._keepAlive,
      };
    });
    const [ofCheck, ...others] = limits;
    assert.deepEqual(ofCheck, { toConnect: 7 * SECOND, ofResponse: 3 * SECOND, staysAlive: true });
    // Two of the start, one for notifications, one for reads and one for writes.
    assert.ok(others.length >= 5, `${others.length} connections`);
    for (const limit of others)
      assert.deepEqual(limit, { toConnect: 7 * SECOND, ofResponse: 21 * SECOND, staysAlive: true });
  });
});

/** What the driver makes of its options. */
interface Limits {
  _connectionTimeoutMillis: number;
  connectionParameters: { query_timeout: number };
  connection: { _keepAlive: boolean };
}

describe('the request to cancel a statement', () => {
  const client = { host: '127.0.0.1', processID: 7, secretKey: -9 };

  it('has the form of the protocol, and ends with its connection', async t => {
    const sockets = new Sockets();
    const server = createServer({ allowHalfOpen: true });
    const port = Number(new URL(await listenLocally(t, server)).port);
    const isRead = sockets.requestCancel({ ...client, port } as unknown as PoolClient, 60 * SECOND);
    const [connection] = (await inTime('a connection', once(server, 'connection'))) as [Socket];
    t.after(() => connection.destroy());
    const [received] = (await inTime('the request', once(connection, 'data'))) as [Buffer];
    // CancelRequest: its length, its code, the ID of the process and its key, with 32 bits each.
    assert.equal(received.toString('hex'), '0000001004d2162e00000007fffffff7');
    connection.end();
    assert.equal(await inTime('the end of the request', isRead), true);
    await inTime('the end of all connections', sockets.closed());
  });

  it('is sent to a server that listens on a Unix socket', async t => {
    const directory = dataDirectory(t);
    const server = createServer(connection => connection.on('error', () => {}).resume());
    server.listen(join(directory, '.s.PGSQL.5433'));
    t.after(() => server.close());
    await once(server, 'listening');
    const connected = once(server, 'connection');
    const sockets = new Sockets();
    const isRead = sockets.requestCancel(
      { ...client, host: directory, port: 5433 } as unknown as PoolClient,
      60 * SECOND,
    );
    const [connection] = (await inTime('a connection', connected)) as [Socket];
    connection.end();
    assert.equal(await inTime('the end of the request', isRead), true);
  });

  it('is given up when the server does not read it in time', async t => {
    const sockets = new Sockets();
    const server = createServer(connection => t.after(() => connection.destroy()));
    const port = Number(new URL(await listenLocally(t, server)).port);
    const isRead = sockets.requestCancel({ ...client, port } as unknown as PoolClient, 50);
    assert.equal(await inTime('the end of the request', isRead), false);
    await inTime('the end of all connections', sockets.closed());
  });

  it('that is lost is ignored', async () => {
    const sockets = new Sockets();
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const isRead = sockets.requestCancel({ ...client, port } as unknown as PoolClient, SECOND);
    await inTime('the end of all connections', sockets.closed());
    assert.equal(await inTime('the end of the request', isRead), false);
    await inTime('the end of all connections', sockets.closed());
  });
});
