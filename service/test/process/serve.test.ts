import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Client } from '../support/client.ts';
import {
  bareEnvironment,
  dataDirectory,
  listening,
  lookingUp,
  serve,
  start,
} from '../support/service-process.ts';
import { valuesOf } from '../support/values.ts';

const main = join(import.meta.dirname, '../../src/main.ts');

const settingsIn = (directory: string) => ({
  PORT: '0',
  PETSTORE_DRAIN_SECONDS: '0',
  PETSTORE_DATA: directory,
});

describe('serve', () => {
  it('knows the limits and bans of the keys of the demo shop from the first request on', async t => {
    const directory = dataDirectory(t);
    const { child, end } = start(t, ['serve', '--demo'], settingsIn(directory));
    const { url } = await listening(child);
    const api = new Client(url, readFileSync(join(directory, 'admin.key'), 'utf8').trim());
    const { body } = await api.get('/keys?limit=100');
    api.close();
    const banned = body.filter(({ ban }: { ban: unknown }) => ban !== null);
    assert.deepEqual(valuesOf(banned, 'name'), ['Price comparison']);
    assert.equal((await end('SIGTERM')).code, 0);
  });

  it('listens on one address of a name in HOST', async t => {
    const { url } = await serve(t, dataDirectory(t), {
      HOST: 'pets.invalid',
      NODE_OPTIONS: lookingUp("({ address: '127.0.0.1' })"),
    });
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('has at most half as many connections of clients as it may open files', async t => {
    const limited = ['-c', 'ulimit -n 300 && exec "$@"', 'sh', process.execPath, main, 'serve'];
    const child = spawn('sh', limited, {
      env: { ...bareEnvironment(), ...settingsIn(dataDirectory(t)) },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    t.after(() => child.kill('SIGKILL'));
    const closed = once(child, 'close');
    const line = (await listening(child)) as { connections?: number };
    child.kill('SIGTERM');
    await closed;
    assert.equal(line.connections, 150);
  });
});
