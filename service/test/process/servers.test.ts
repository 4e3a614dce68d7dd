import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it, type TestContext } from 'node:test';
import pg from 'pg';
import { type PostgresOptions, startPostgres } from '../../../scripts/servers/postgres.ts';
import { unpack } from '../../../scripts/servers/postgres-programs.ts';
import { haveEnded, withDescendants } from '../../../scripts/servers/processes.ts';
import { type RedisOptions, startRedis } from '../../../scripts/servers/redis.ts';
import { findRedis } from '../../../scripts/servers/redis-program.ts';
import { dataDirectory } from '../support/service-process.ts';

const withServers = join(import.meta.dirname, '../../../scripts/with-servers.ts');
const isRoot = process.getuid!() === 0;

async function postgresFor(t: TestContext, options?: PostgresOptions) {
  const postgres = await startPostgres(options);
  t.after(() => postgres.stop());
  return postgres;
}

async function redisFor(t: TestContext, options?: RedisOptions) {
  const redis = await startRedis(options);
  t.after(() => redis.stop());
  return redis;
}

/** The rows of a query over a separate connection. */
async function query(connectionString: string, text: string, milliseconds = 5_000): Promise<unknown[]> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: milliseconds });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query({ text, rowMode: 'array' });
    return rows.flat();
  } finally {
    await client.end();
  }
}

/** The responses of Redis to inline commands, the last of which is QUIT. Rejects when Redis does not respond in time. */
function ask(port: number, ...commands: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    let response = '';
    socket.setTimeout(500, () => socket.destroy(new Error('no response')));
    socket.on('data', text => {
      response += text;
    });
    socket.once('error', reject);
    socket.once('close', () => resolve(response));
    socket.write(`${[...commands, 'QUIT'].join('\r\n')}\r\n`);
  });
}

/** `with-servers` with a command. */
function runWithServers(t: TestContext, ...command: string[]) {
  const child = spawn(process.execPath, [withServers, ...command], { stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  return { child, ended: once(child, 'exit'), lines: createInterface({ input: child.stdout }) };
}

/** `with-servers` around a command that keeps running, and the servers it started. */
async function runningWithServers(t: TestContext) {
  const script = `
    const { TEST_DATABASE_URL, TEST_REDIS_URL } = process.env;
    console.log(JSON.stringify({ pid: process.pid, database: TEST_DATABASE_URL, redis: TEST_REDIS_URL }));
    setInterval(() => {}, 1000);`;
  const run = runWithServers(t, 'node', '-e', script);
  const [line] = await once(run.lines, 'line');
  const { pid, database, redis } = JSON.parse(line);
  const settings =
    "select current_setting('data_directory'), split_part(pg_read_file('postmaster.pid'), E'\\n', 1)";
  const [data, postmaster] = (await query(database, settings)) as string[];
  const information = await ask(Number(new URL(redis).port), 'INFO server', 'CONFIG GET dir');
  const redisPid = Number(/process_id:(\d+)/.exec(information)![1]);
  const redisDirectory = /^dir\r\n\$\d+\r\n(.+)\r$/m.exec(information)![1]!;
  return {
    ...run,
    commandPid: pid as number,
    directories: [join(data!, '..'), redisDirectory],
    processes: [...withDescendants(Number(postmaster)), ...withDescendants(redisPid)],
  };
}

async function areGone(directories: string[]): Promise<boolean> {
  for (let attempt = 0; attempt < 200 && directories.some(existsSync); attempt++) {
    await new Promise(resolve => setTimeout(resolve, 25));
  }
  return !directories.some(existsSync);
}

describe('a PostgreSQL for tests', () => {
  it('responds, and leaves no process and no directory behind', async t => {
    const postgres = await postgresFor(t);
    assert.deepEqual(await query(postgres.url, 'select current_user::text'), ['petstore']);
    assert.deepEqual(await query(postgres.url, 'show server_encoding'), ['UTF8']);
    const family = withDescendants(postgres.pid);
    assert.ok(family.length > 3);
    await postgres.stop();
    assert.ok(await haveEnded(family, 0));
    assert.ok(!existsSync(postgres.directory));
  });

  it('is separate from another one, as are its databases from each other', async t => {
    const [one, other] = await Promise.all([postgresFor(t), postgresFor(t)]);
    assert.notEqual(one.port, other.port);
    assert.notEqual(one.directory, other.directory);
    const databases = [
      await one.createDatabase(),
      await one.createDatabase(),
      await other.createDatabase('my "shop"'),
    ];
    for (const url of databases) await query(url, 'create table apart (id int)');
  });

  it('returns on its port with its data after a crash', async t => {
    const postgres = await postgresFor(t, { settings: { synchronous_commit: 'on' } });
    const { url } = postgres;
    await query(url, 'create table kept as select 42 as number');
    const family = withDescendants(postgres.pid);
    await postgres.kill();
    assert.ok(await haveEnded(family, 0));
    await assert.rejects(query(url, 'select 1'), { code: 'ECONNREFUSED' });
    await postgres.restart();
    assert.equal(postgres.url, url);
    assert.deepEqual(await query(url, 'select number from kept'), [42]);
  });

  it('hangs while it is paused', async t => {
    const postgres = await postgresFor(t);
    postgres.pause();
    await assert.rejects(query(postgres.url, 'select 1', 300), /timeout/i);
    postgres.resume();
    assert.deepEqual(await query(postgres.url, 'select 1'), [1]);
    postgres.pause();
    await postgres.stop();
    assert.ok(!existsSync(postgres.directory));
  });

  it('finds its data again in a named directory', async t => {
    const parent = dataDirectory(t);
    // The user that runs PostgreSQL must be able to enter it.
    chmodSync(parent, 0o755);
    const directory = join(parent, 'shop');
    const first = await postgresFor(t, { directory, durable: true });
    assert.deepEqual(await query(first.url, 'show fsync'), ['on']);
    const url = await first.createDatabase('shop');
    await first.stop();
    const second = await postgresFor(t, { directory, port: first.port });
    assert.deepEqual(await query(url, 'show fsync'), ['off']);
    await second.stop();
    assert.ok(existsSync(directory));
  });

  it('that cannot start reports the reason, and leaves nothing behind', async () => {
    await assert.rejects(
      startPostgres({ settings: { max_connections: 'many' } }),
      /did not start: .*max_connections/s,
    );
  });
});

describe('a Redis for tests', () => {
  it('responds, and is empty on the same port after a restart', async t => {
    const redis = await redisFor(t);
    const { port, pid } = redis;
    assert.match(await ask(port, 'SELECT 999', 'SET key value'), /^\+OK\r\n\+OK/);
    await redis.stop();
    assert.ok(await haveEnded([pid], 0));
    await assert.rejects(ask(port, 'PING'), { code: 'ECONNREFUSED' });
    await redis.start();
    assert.match(await ask(port, 'SELECT 999', 'GET key'), /\$-1/);
    assert.equal(redis.port, port);
  });

  it('that is durable still has, after a crash, what it confirmed', async t => {
    const redis = await redisFor(t, { directory: dataDirectory(t), durable: 'always' });
    await ask(redis.port, 'SET key value');
    await redis.kill();
    await redis.start();
    assert.match(await ask(redis.port, 'GET key'), /value/);
    await redis.stop();
  });

  it('hangs while it is paused', async t => {
    const redis = await redisFor(t);
    redis.pause();
    await assert.rejects(ask(redis.port, 'PING'), /no response/);
    redis.resume();
    assert.match(await ask(redis.port, 'PING'), /PONG/);
  });

  it('fails when another Redis has its port, and is not mistaken for that one', async t => {
    const { port } = await redisFor(t);
    await assert.rejects(startRedis({ port }), /Address already in use/);
  });

  it('is 6.2 or newer', t => {
    const directory = dataDirectory(t);
    const program = join(directory, 'redis-server');
    for (const [version, found] of [
      ['6.0.16', undefined],
      ['6.2.0', program],
      ['10.1.0', program],
    ]) {
      writeFileSync(program, `#!/bin/sh\necho "Redis server v=${version} sha=0"\n`, { mode: 0o755 });
      assert.equal(findRedis(directory), found);
    }
    assert.equal(findRedis(join(directory, 'none')), undefined);
  });
});

describe('with-servers', () => {
  it('exits with the code of its command, and reports a command that does not exist', async t => {
    assert.deepEqual(await runWithServers(t, 'sh', '-c', 'exit 7').ended, [7, null]);
    assert.deepEqual(await runWithServers(t, 'no-such-command').ended, [1, null]);
  });

  it('forwards signals, and stops the servers', async t => {
    const run = await runningWithServers(t);
    run.child.kill('SIGTERM');
    assert.deepEqual(await run.ended, [143, null]);
    assert.ok(await haveEnded([run.commandPid, ...run.processes], 0));
    assert.ok(!run.directories.some(directory => existsSync(directory)));
  });

  it('leaves no server and no directory behind when it is killed', async t => {
    const run = await runningWithServers(t);
    t.after(() => process.kill(run.commandPid));
    assert.ok(run.directories.every(directory => existsSync(directory)));
    run.child.kill('SIGKILL');
    await run.ended;
    assert.ok(await haveEnded(run.processes, 10_000));
    assert.ok(await areGone(run.directories));
  });
});

describe('the programs of PostgreSQL', () => {
  /** A package like those of PostgreSQL, in a directory that only this user can enter. */
  function packageIn(t: TestContext) {
    const directory = dataDirectory(t);
    for (const folder of ['bin', 'lib'])
      mkdirSync(join(directory, 'native', folder), { recursive: true, mode: 0o700 });
    writeFileSync(join(directory, 'native/bin/postgres'), '', { mode: 0o700 });
    writeFileSync(join(directory, 'native/lib/libpq.so.5.15'), 'library', { mode: 0o600 });
    const links = [{ source: 'native/lib/libpq.so.5.15', target: 'native/lib/libpq.so.5' }];
    writeFileSync(join(directory, 'native/pg-symlinks.json'), JSON.stringify(links));
    return { source: directory, target: join(directory, 'unpacked') };
  }

  it('run from a directory that every user can read and only this one can write', async t => {
    const { source, target } = packageIn(t);
    unpack(source, target);
    const modeOf = (path: string) => (statSync(join(target, path)).mode & 0o777).toString(8);
    assert.deepEqual(['', 'bin', 'bin/postgres', 'lib/libpq.so.5'].map(modeOf), ['755', '755', '755', '644']);
    assert.equal(readFileSync(join(target, 'lib/libpq.so.5'), 'utf8'), 'library');
    if (!isRoot) return;
    const postgres = await postgresFor(t);
    const { uid } = statSync(join(postgres.directory, 'data'));
    assert.notEqual(uid, 0);
  });

  it('are unpacked once, and again only when something is missing', t => {
    const { source, target } = packageIn(t);
    const { ino } = statSync(unpack(source, target));
    assert.equal(statSync(unpack(source, target)).ino, ino);
    writeFileSync(join(source, 'native/lib/libz.so'), '');
    assert.notEqual(statSync(unpack(source, target)).ino, ino);
    const others = readdirSync(source).filter(name => name.startsWith('unpacked'));
    assert.deepEqual(others, ['unpacked']);
  });

  it('are not used from a directory that another user can write to', t => {
    const { source, target } = packageIn(t);
    unpack(source, target);
    chmodSync(target, 0o775);
    assert.throws(() => unpack(source, target), /only this user can write to: remove it/);
    if (!isRoot) return;
    chmodSync(target, 0o755);
    chownSync(target, 65534, 65534);
    assert.throws(() => unpack(source, target), /only this user can write to: remove it/);
  });
});
