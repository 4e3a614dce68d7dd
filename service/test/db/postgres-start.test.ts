import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import pg from 'pg';
import { StoreUnavailable, UnusableStore } from '../../src/db/database.ts';
import { migratePostgres } from '../../src/db/migrate-postgres.ts';
import { readMigrations } from '../../src/db/migrations.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { emptyPostgres, postgresOptions } from '../support/engines.ts';

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

/** A connection to a database without tables. */
async function aSession(t: TestContext): Promise<pg.Client> {
  const url = await emptyPostgres(t);
  const client = new pg.Client(url);
  await client.connect();
  return client;
}

/** The tables of the schema, and the applied migrations. */
async function dump(client: pg.Client): Promise<unknown> {
  const { rows: tables } = await client.query(
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY table_name",
  );
  if (tables.length === 0) return { tables, applied: [] };
  const { rows: applied } = await client.query('SELECT * FROM schema_migrations ORDER BY version');
  return { tables, applied };
}

const pen = { version: 1, name: '0001-pen', sql: 'CREATE TABLE pens (id INTEGER)' };
const cage = { version: 2, name: '0002-cage', sql: 'CREATE TABLE cages (id INTEGER)' };
const broken = {
  version: 2,
  name: '0002-broken',
  sql: 'CREATE TABLE cages (id INTEGER); INSERT INTO nowhere VALUES (1)',
};

describe('ten concurrent replicas on an empty database', () => {
  it('migrate it once, and all see the current schema', async t => {
    const url = await emptyPostgres(t);
    const replicas = await Promise.all(
      Array.from({ length: 10 }, () => openPostgres(postgresOptions(url, { connections: 2 }))),
    );
    const applied = await Promise.all(
      replicas.map(db => db.all<{ version: number; name: string }>('SELECT * FROM schema_migrations')),
    );
    await Promise.all(replicas.map(db => db.close()));
    for (const rows of applied) {
      assert.deepEqual(
        rows.map(({ version, name }) => [version, name]),
        readMigrations('postgres').map(({ version, name }) => [version, name]),
      );
      assert.deepEqual(rows, applied[0], 'one replica applied them');
    }
  });
});

describe('migrations of PostgreSQL', () => {
  it('apply only new ones, and change nothing the second time', async t => {
    const client = await aSession(t);
    await migratePostgres(client, [pen]);
    await client.query('INSERT INTO pens VALUES (7)');
    await migratePostgres(client, [pen, cage]);
    const before = await dump(client);
    await migratePostgres(client, [pen, cage]);
    assert.deepEqual(await dump(client), before);
    assert.deepEqual((await client.query('SELECT id FROM pens')).rows, [{ id: 7 }]);
    await client.end();
  });

  it('change nothing when one fails, not even by those before it', async t => {
    const client = await aSession(t);
    await assert.rejects(migratePostgres(client, [pen, broken]), /nowhere/);
    assert.deepEqual(await dump(client), { tables: [], applied: [] });

    await migratePostgres(client, [pen]);
    const before = await dump(client);
    await assert.rejects(migratePostgres(client, [pen, broken]), /nowhere/);
    assert.deepEqual(await dump(client), before);
    await client.end();
  });

  it('do not change a newer schema, and report the remedy', async t => {
    const url = await emptyPostgres(t);
    await (await openPostgres(postgresOptions(url))).close();
    const client = new pg.Client(url);
    await client.connect();
    await client.query("INSERT INTO schema_migrations VALUES (9999, '9999-from-the-future', 0)");
    const before = await dump(client);
    assert.match(await rejectionOf(url), /schema version 9999, newer than this program .* at least as new/);
    assert.deepEqual(await dump(client), before);
    await client.end();
  });
});

describe('a database that is temporarily read-only', () => {
  it('is opened when its schema is up to date, and is otherwise unavailable', async t => {
    const url = await emptyPostgres(t);
    const session = new pg.Client(url);
    await session.connect();
    const name = new URL(url).pathname.slice(1);
    await session.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    assert.match(await rejectionOf(url, StoreUnavailable), /cannot be used: .*read-only transaction/);
    await session.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    await (await openPostgres(postgresOptions(url))).close();
    await session.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await session.end();
    await (await openPostgres(postgresOptions(url))).close();
  });
});

describe('a server that cannot be used is rejected with its reason:', () => {
  it('a database in another encoding', async t => {
    const url = await emptyPostgres(t, "ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    assert.equal(
      await rejectionOf(url),
      'The encoding of the database must be UTF8, but is SQL_ASCII: create another database',
    );
  });

  it('one that is older than PostgreSQL 15', async t => {
    const url = await oldServer(t);
    assert.match(
      await rejectionOf(url),
      /^PostgreSQL 15 or newer is required; the server has version 140009$/,
    );
  });

  it('one that cannot be reached, without its password', async () => {
    const text = await rejectionOf('postgres://shop:secret@127.0.0.1:1/petstore', StoreUnavailable);
    assert.match(
      text,
      /^The database postgres:\/\/shop:\*\*\*@127\.0\.0\.1:1\/petstore cannot be used: .*ECONNREFUSED/,
    );
    assert.doesNotMatch(text, /secret/);
  });

  it('a database that does not exist, without its password', async t => {
    const url = new URL(await emptyPostgres(t));
    url.pathname = '/nowhere';
    url.password = 'secret';
    const text = await rejectionOf(url.href);
    assert.match(text, /cannot be used: database "nowhere" does not exist/);
    assert.doesNotMatch(text, /secret/);
  });

  it('one that accepts connections and never responds, within a few seconds', async t => {
    // Reading the bytes lets its socket close with the client's.
    const silent = createServer(socket => void socket.on('error', () => {}).resume()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    t.after(() => silent.close());
    const { port } = silent.address() as AddressInfo;
    const startedAt = performance.now();
    const url = `postgres://shop@127.0.0.1:${port}/petstore`;
    assert.match(await rejectionOf(url, StoreUnavailable), /cannot be used: .*timeout/);
    assert.ok(performance.now() - startedAt < 5_000);
  });
});

/** A server that responds like PostgreSQL 14.9 to the statements of a start (PostgreSQL, chapter 55). */
async function oldServer(t: TestContext): Promise<string> {
  const server = createServer(socket => {
    let isGreeted = false;
    socket.on('error', () => {});
    socket.on('data', bytes => {
      if (!isGreeted) {
        isGreeted = true;
        socket.write(Buffer.concat([message('R', int32(0)), ready]));
        return;
      }
      if (bytes.includes('server_version_num')) {
        const row = Buffer.concat([int16(2), column('140009'), column('UTF8')]);
        const description = Buffer.concat([int16(2), field('version', 23), field('encoding', 25)]);
        socket.write(Buffer.concat([message('T', description), message('D', row), done('SELECT 1'), ready]));
      } else if (bytes[0] === 'Q'.charCodeAt(0)) {
        socket.write(Buffer.concat([done('SET'), done('SET'), ready]));
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `postgres://shop@127.0.0.1:${(server.address() as AddressInfo).port}/petstore`;
}

function message(type: string, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from(type), int32(content.length + 4), content]);
}

const ready = message('Z', Buffer.from('I'));

function done(command: string): Buffer {
  return message('C', Buffer.from(`${command}\0`));
}

function field(name: string, type: number): Buffer {
  return Buffer.concat([
    ...[Buffer.from(`${name}\0`), int32(0), int16(0), int32(type), int16(-1), int32(-1), int16(0)],
  ]);
}

function column(text: string): Buffer {
  return Buffer.concat([int32(text.length), Buffer.from(text)]);
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
