import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import pg from 'pg';
import { offerBrowser } from '../../../scripts/servers/browser.ts';
import { unpack } from '../../../scripts/servers/postgres-programs.ts';
import { haveEnded, withDescendants } from '../../../scripts/servers/processes.ts';
import { findRedis } from '../../../scripts/servers/redis-program.ts';
import { dataDirectory } from '../support/service-process.ts';

const withServers = join(import.meta.dirname, '../../../scripts/with-servers.ts');

// The other tests of the suite use the servers; these are the parts that they would not miss.
describe('the servers of a test run', () => {
  it('end, with their directories, when the run gets a signal, which the command also gets', async t => {
    const script =
      'process.stdout.write(process.pid + " " + process.env.TEST_DATABASE_URL + "\\n"); setInterval(() => {}, 1000);';
    const child = spawn(process.execPath, [withServers, 'node', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const [command, connectionString] = line.split(' ');
    const client = new pg.Client({ connectionString });
    await client.connect();
    const { rows } = await client.query('show data_directory');
    await client.end();
    const processes = withDescendants(child.pid!);
    assert.ok(processes.includes(Number(command)));
    assert.ok(processes.length > 6);
    child.kill('SIGTERM');
    assert.deepEqual(await ended, [143, null]);
    assert.ok(await haveEnded(processes, 0));
    assert.ok(!existsSync(rows[0].data_directory));
  });

  it('include a Redis of version 6.2 or newer', t => {
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

  it('include no browser where Chromium is missing, with the reason', async t => {
    const { env } = process;
    process.env = { ...env, CHROMIUM: '/no/such/chromium' };
    const offer = await offerBrowser();
    t.after(() => {
      process.env = env;
      return offer.stop();
    });
    const response = await fetch(offer.url);
    assert.equal(await response.text(), 'CHROMIUM is "/no/such/chromium", which is not a program');
  });

  it('run from a directory that every user can read and only this one can write', t => {
    const source = dataDirectory(t);
    const target = join(source, 'unpacked');
    for (const folder of ['bin', 'lib'])
      mkdirSync(join(source, 'native', folder), { recursive: true, mode: 0o700 });
    writeFileSync(join(source, 'native/bin/postgres'), '', { mode: 0o700 });
    writeFileSync(join(source, 'native/lib/libpq.so.5.15'), 'library', { mode: 0o600 });
    const links = [{ source: 'native/lib/libpq.so.5.15', target: 'native/lib/libpq.so.5' }];
    writeFileSync(join(source, 'native/pg-symlinks.json'), JSON.stringify(links));
    const { ino } = statSync(unpack(source, target));
    const modeOf = (path: string) => (statSync(join(target, path)).mode & 0o777).toString(8);
    assert.deepEqual(['', 'bin', 'bin/postgres', 'lib/libpq.so.5'].map(modeOf), ['755', '755', '755', '644']);
    assert.equal(statSync(unpack(source, target)).ino, ino, 'it is unpacked once');
    chmodSync(target, 0o775);
    assert.throws(() => unpack(source, target), /only this user can write to: remove it/);
    if (process.getuid!() !== 0) return;
    chmodSync(target, 0o755);
    chownSync(target, 65534, 65534);
    assert.throws(() => unpack(source, target), /only this user can write to: remove it/);
  });
});
