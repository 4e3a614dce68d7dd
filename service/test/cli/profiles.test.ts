import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { replacePrivateFile } from '../../../cli/src/private-file.ts';
import { commandIn, useCommandShop } from '../support/command-shop.ts';
import { listenLocally } from '../support/local-server.ts';
import { dataDirectory } from '../support/service-process.ts';
import { inTime } from '../support/until.ts';

describe('the profiles of petstore', () => {
  const { shop, directory } = useCommandShop();
  const petstore = commandIn(directory);
  const file = join(directory, 'petstore/profiles.json');
  const keyFile = join(directory, 'key');
  beforeEach(() => rmSync(file, { force: true }));

  const login = (args: string[] = [], key = shop.adminKey) => {
    writeFileSync(keyFile, `${key}\n`);
    return petstore.run(['login', '--url', shop.origin, '--api-key-file', keyFile, ...args]);
  };

  it('are stored by login in a file that only the user can read', async () => {
    const words = ['login', '--url', shop.origin, '--api-key-file', '-'];
    const { code, stdout, stderr } = await petstore.start(words, {}, shop.adminKey).ended;
    assert.equal(code, 0, stderr);
    assert.ok(!`${stdout}${stderr}`.includes(shop.adminKey));
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(statSync(join(file, '..')).mode & 0o777, 0o700);
    const account = await petstore.start(['account', '--fields', 'name']).ended;
    assert.equal(account.stdout, 'Administrator\n');
  });

  it('ask for the URL and, without showing it, for the key on a terminal', async t => {
    const terminal = petstore.onTerminal(t, ['login']);
    await terminal.shows('URL of the service');
    terminal.type(`${shop.origin}\r`);
    await terminal.shows('API key (not shown)');
    terminal.type(`${shop.adminKey}\r`);
    const { code, stdout } = await inTime('the end', terminal.ended);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /Administrator/);
    assert.ok(stdout.includes('(http://127.0.0.1:8080)'), 'it proposes where `npm start` serves');
    assert.ok(!stdout.includes(shop.adminKey));
    assert.equal(JSON.parse(readFileSync(file, 'utf8')).profiles.default.apiKey, shop.adminKey);
  });

  it('are stored with a warning if the URL is of another machine, and does not encrypt the key', async () => {
    // Connections to this address reach this machine.
    const url = shop.origin.replace('127.0.0.1', '0.0.0.0');
    const { code, stderr } = await login(['--url', url]);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /is not encrypted, so others can read the API key/);
    assert.doesNotMatch((await login()).stderr, /is not encrypted/);
  });

  it('are not stored with a key that the service rejects', async () => {
    const { code } = await login([], `${shop.adminKey}x`);
    assert.equal(code, 3);
    assert.equal(statSync(file, { throwIfNoEntry: false }), undefined);
  });

  it('are not stored with the key of the environment, which can be that of another service', async () => {
    const words = ['login', '--url', shop.origin];
    const { code, stderr } = await petstore.start(words, { PETSTORE_API_KEY: shop.adminKey }).ended;
    assert.equal(code, 2);
    assert.match(stderr, /--api-key-file/);
    assert.equal(statSync(file, { throwIfNoEntry: false }), undefined);
  });

  it('are not read from a file that the group or other users can read or change', async () => {
    await login();
    for (const mode of [0o640, 0o620, 0o604, 0o602]) {
      chmodSync(file, mode);
      const { code, stderr } = await petstore.run(['account']);
      assert.equal(code, 3, mode.toString(8));
      assert.match(stderr, /other users.*chmod 600/);
    }
  });

  it('can be several: --profile and `profiles use` choose one', async () => {
    const { key } = await shop.clientWith({ scopes: ['pets:read'] });
    await login();
    await login(['--profile', 'clerk'], key);
    const nameOf = async (args: string[], environment = {}) =>
      (await petstore.run(['account', '--fields', 'name', ...args], environment)).stdout.trim();
    assert.equal(await nameOf([]), 'Test client');
    assert.equal(await nameOf(['--profile', 'default']), 'Administrator');
    assert.equal(await nameOf([], { PETSTORE_PROFILE: 'default' }), 'Administrator');
    await petstore.run(['profiles', 'use', 'default']);
    assert.equal(await nameOf([]), 'Administrator');
    // The environment comes before the current profile, and an option before the environment.
    assert.equal(await nameOf([], { PETSTORE_API_KEY: key }), 'Test client');
    assert.equal(await nameOf(['--profile', 'default'], { PETSTORE_API_KEY: key }), 'Administrator');
    const elsewhere = { PETSTORE_URL: 'http://127.0.0.1:1' };
    assert.equal(await nameOf(['--profile', 'default'], elsewhere), 'Administrator');
    await petstore.run(['logout', '--profile', 'clerk']);
    assert.equal((await petstore.run(['account', '--profile', 'clerk'])).code, 3);
    assert.equal(await nameOf([]), 'Administrator');
    assert.ok(!readFileSync(file, 'utf8').includes(key));
  });

  it('are stored and deleted by login and logout under the name of PETSTORE_PROFILE', async () => {
    await login();
    const environment = { PETSTORE_PROFILE: 'shop' };
    const words = ['login', '--url', shop.origin, '--api-key-file', keyFile];
    assert.match((await petstore.run(words, environment)).stdout, /^shop\t/);
    await petstore.run(['profiles', 'use', 'default']);
    assert.match((await petstore.run(['logout'], environment)).stdout, /^shop\t/);
    assert.deepEqual(Object.keys(JSON.parse(readFileSync(file, 'utf8')).profiles), ['default']);
  });

  it('keep what another command stores while login checks a key', async t => {
    await login(['--profile', 'first']);
    const { fetch } = globalThis;
    const check = t.mock.method(globalThis, 'fetch', async (...request: Parameters<typeof fetch>) => {
      check.mock.restore();
      await login(['--profile', 'second']);
      return fetch(...request);
    });
    const { code, stderr } = await login(['--profile', 'third']);
    assert.equal(code, 0, stderr);
    const names = Object.keys(JSON.parse(readFileSync(file, 'utf8')).profiles);
    assert.deepEqual(names, ['first', 'second', 'third']);
  });

  it('are stored by login with PETSTORE_URL, but a profile that --profile names keeps its URL', async t => {
    await login();
    let requests = 0;
    const other = createServer((_, response) => {
      requests++;
      response.writeHead(418).end();
    });
    const environment = { PETSTORE_URL: await listenLocally(t, other) };
    for (const [profile, expected] of [
      [[], 1],
      [['--profile', 'default'], 1],
      [['--profile', 'new'], 2],
    ] as const) {
      await petstore.start(['login', '--api-key-file', keyFile, ...profile], environment).ended;
      assert.equal(requests, expected, profile.join(' '));
    }
  });

  it('count if the variables of the environment are empty', async () => {
    await login();
    const empty = { PETSTORE_URL: '', PETSTORE_API_KEY: '', PETSTORE_PROFILE: '' };
    const { code, stderr } = await petstore.run(['account'], empty);
    assert.equal(code, 0, stderr);
  });

  it('send their key to no other URL', async t => {
    await login();
    const requests = shop.logLines().length;
    const { code, stderr } = await petstore.run(['account', '--url', `${shop.origin}/other`]);
    assert.equal(code, 3);
    assert.match(stderr, /The key of the profile is for /);
    assert.equal(shop.logLines().length, requests);
    const keys: unknown[] = [];
    const other = createServer(({ headers }, response) => {
      keys.push(headers['x-api-key']);
      response.writeHead(418).end();
    });
    await petstore.run(['status', '--url', await listenLocally(t, other)]);
    assert.deepEqual(keys, [undefined]);
  });
});

it('a private file that cannot be replaced leaves no draft with its secrets', t => {
  const directory = dataDirectory(t);
  const file = join(directory, 'file');
  // A directory that is not empty cannot be replaced by a file.
  mkdirSync(join(file, 'inside'), { recursive: true });
  assert.throws(() => replacePrivateFile(file, 'secret'), { syscall: 'rename' });
  assert.deepEqual(readdirSync(directory), ['file']);
});
