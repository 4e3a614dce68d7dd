import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { SECOND } from '../../src/kit/clock.ts';
import { emptyPostgres } from '../support/engines.ts';
import { assertRejected } from '../support/rejection.ts';
import { dataDirectory, run, serve, start } from '../support/service-process.ts';
import { startTestApp } from '../support/test-app.ts';
import { storeForProcesses } from '../support/test-store.ts';

/** Runs `keys …` on the store that the environment names, as an operator would. */
function keys(t: TestContext, environment: Record<string, string>, ...args: string[]) {
  return run(t, ['keys', ...args], environment);
}

const webShop = ['--name', 'Web shop', '--plan', 'free', '--scope', 'pets:read', '--scope', 'orders:write'];

describe('the command keys', () => {
  it('creates a key that the running service accepts, lists it, and revokes it within a second', async t => {
    const { api, clock, store } = await startTestApp(t);
    const created = await keys(t, store.environment, 'create', ...webShop);
    assert.equal(created.code, 0, created.stderr);
    assert.match(created.stdout, /^psk_[0-9A-Za-z]{38}\n$/, 'only the key, for scripts');
    assert.match(created.stderr, /^API key 2 \(Web shop\)\. It is shown only once: store it safely$/m);
    const client = api.as(created.stdout.trim());
    const response = await client.get('/pets');
    assert.deepEqual([response.status, response.headers['x-ratelimit-limit']], [200, '60']);
    assertRejected(await client.get('/keys'), 403, 'insufficient_scope');

    const listed = await keys(t, store.environment, 'list');
    assert.equal(
      listed.stdout,
      '1\tAdministrator\tenterprise\tadmin\tactive\n2\tWeb shop\tfree\tpets:read,orders:write\tactive\n',
    );

    const revoked = await keys(t, store.environment, 'revoke', '2');
    assert.deepEqual([revoked.code, revoked.stdout], [0, 'API key 2 is revoked\n']);
    clock.advance(SECOND);
    assertRejected(await client.get('/pets'), 401, 'invalid_api_key');
    assert.match((await keys(t, store.environment, 'list')).stdout, /^2\t.*\trevoked \d{4}-\d\d-\d\dT/m);
  });

  it('leaves an event of the system for each change, with its origin and without a secret', async t => {
    const { app, api, store } = await startTestApp(t);
    const created = await keys(t, store.environment, 'create', ...webShop);
    const rotated = await keys(t, store.environment, 'rotate', '2', '--grace', '0');
    for (const args of [
      ['change', '2', '--name', 'Till'],
      ['reset', '2'],
      ['revoke', '2'],
    ])
      assert.equal((await keys(t, store.environment, ...args)).code, 0);
    await app.db.numberEvents();
    const { body, text } = await api.get('/history?subject=keys/2');
    const origin = ['system', 'An operator used `keys` on the command line'];
    assert.deepEqual(
      body.map(({ type, name, actor, reason }: Record<string, unknown>) => [type, name, actor, reason]),
      [
        ['key.revoked', 'Till', ...origin],
        ['key.limits_reset', 'Till', ...origin],
        ['key.updated', 'Till', ...origin],
        ['key.rotated', 'Web shop', ...origin],
        ['key.created', 'Web shop', ...origin],
      ],
    );
    assert.deepEqual(body[2].changes, [{ field: 'name', from: 'Web shop', to: 'Till' }]);
    const stored = JSON.stringify(await app.db.all('SELECT * FROM events')) + text;
    for (const { stdout } of [created, rotated]) assert.ok(!stored.includes(stdout.trim()));
    assert.doesNotMatch(stored, /psk_/);
  });

  it('creates a key with quotas and an expiry', async t => {
    const { api, store } = await startTestApp(t);
    const options = ['--name', 'Partner', '--plan', 'enterprise', '--scope', 'pets:read'];
    const quotas = ['--per-minute', '7', '--per-day', '70', '--expires', '2999-01-01T00:00:00Z'];
    const created = await keys(t, store.environment, 'create', ...options, ...quotas);
    assert.equal(created.code, 0, created.stderr);
    const { body } = await api.get('/keys/2');
    assert.deepEqual(
      [body.quotas, body.expiresAt],
      [{ perMinute: 7, perDay: 70 }, '2999-01-01T00:00:00.000Z'],
    );
  });

  const invalid: [args: string[], complaint: RegExp][] = [
    [
      [],
      /^The command is incomplete: use keys with one of create, list, show, change, rotate, revoke, unban, reset, usage$/,
    ],
    [['create'], /^Option --name is required: keys create needs --name, --plan and --scope$/],
    [
      ['create', '--name', 'x', '--scope', 'pets:read', '--plan', 'gold'],
      /^--plan must be one of .*, but was "gold"$/,
    ],
    [
      ['create', ...webShop, '--per-minute', 'x'],
      /^Options --per-minute and --per-day must be given together$/,
    ],
    [['create', ...webShop, '--colour', 'red'], /^There is no option --colour: --help lists all arguments$/],
    [
      ['create', '--name', '--plan'],
      /^Option --name needs a value, but --plan follows: write --name=--plan if that/,
    ],
    [['create', ...webShop, '--name', 'Again'], /^Option --name is repeated: name it once$/],
    [
      ['change', '1', '--plan', 'pro', '--per-minute', '-1'],
      /^--per-minute must be an integer .*, but was "-1"$/,
    ],
    [['change', '1', '--plan', 'pro', '--per-minute', '7'], /^--per-minute and --per-day is? .*enterprise/],
    [['change', '1', '--scope', 'pets'], /^--scope must be one of .*, but was "pets"$/],
    [['revoke', '0x2'], /^Name one API key by its ID: keys revoke 3$/],
    [['revoke', '77'], /^There is no API key 77$/],
    [['revoke', '1'], /^API key 1 is the last administrator's key/],
    [['change', '1', '--scope', 'pets:read'], /^API key 1 is the last administrator's key/],
    [['change', '1', '--expires', '2999-01-01T00:00:00Z'], /^API key 1 is the last administrator's key/],
    [['change', '1'], /^Name at least one setting to change, such as --plan pro$/],
    [['change', '1', '--plan', 'gold'], /^--plan must be one of .*, but was "gold"$/],
    [['change', '1', '--per-day', 'many'], /^--per-day must be an integer .*, but was "many"$/],
    [['change', '1', '--expires', '2020-01-01T00:00:00Z'], /^--expires must be in the future/],
    [['rotate', '1', '--grace', 'long'], /^--grace must be an integer .*, but was "long"$/],
    [['rotate', '1', '--grace', '-5'], /^--grace must be an integer .*, but was "-5"$/],
    [['rotate', '1', '--grace'], /^Option --grace needs a value: write --grace=VALUE$/],
    [['rotate', '77'], /^There is no API key 77$/],
    [['show'], /^Name one API key by its ID: keys show 3$/],
    [['list', '1'], /^Unexpected argument 1: --help lists all arguments$/],
    [['unban', '1', '2'], /^Name one API key by its ID: keys unban 3$/],
    [['usage', '1', '--day', '3'], /^There is no option --day: --help lists all arguments$/],
  ];

  it('explains invalid arguments in one sentence, changes nothing, and exits with 2', async t => {
    const { api, store } = await startTestApp(t);
    const outcomes = await Promise.all(invalid.map(([args]) => keys(t, store.environment, ...args)));
    for (const [i, { code, stdout, stderr }] of outcomes.entries()) {
      const [args, complaint] = invalid[i]!;
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
      assert.match(stderr.trimEnd(), complaint);
    }
    assert.equal((await api.get('/keys')).body.length, 1);
  });
});

describe('the command keys in a directory without a store', () => {
  it('does not create one, and reports the directory', async t => {
    const directory = join(dataDirectory(t), 'elsewhere');
    for (const args of [['list'], ['create', ...webShop]]) {
      const { code, stdout, stderr } = await keys(t, { PETSTORE_DATA: directory }, ...args);
      assert.deepEqual([code, stdout, existsSync(directory)], [2, '', false]);
      assert.match(stderr, new RegExp(`^There is no store in ${directory}: PETSTORE_DATA names`));
    }
  });

  it('still prints its help', async t => {
    const { code, stdout } = await keys(t, { PETSTORE_DATA: dataDirectory(t) }, 'create', '--help');
    assert.equal(code, 0);
    assert.match(stdout, /keys rotate ID/);
  });
});

describe('the first start', () => {
  it('leaves the administrator’s key in a file that only its owner can read, and in no log', async t => {
    const { directory, environment } = await storeForProcesses(t);
    const service = await serve(t, directory, environment);
    const file = join(directory, 'admin.key');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.match(readFileSync(file, 'utf8'), /^psk_[0-9A-Za-z]{38}\n$/);
    const { stdout, stderr } = await service.end('SIGTERM');
    assert.ok(!stdout.includes('psk_'), 'the log contains no key');
    assert.ok(!stderr.includes('psk_'), 'the welcome contains no key, because it is not on a terminal');

    const again = await serve(t, directory, environment);
    assert.equal(again.adminKey, service.adminKey);
    const { stdout: log, stderr: welcome } = await again.end('SIGTERM');
    assert.ok(!`${log}${welcome}`.includes('psk_'), 'the second start shows no key');
  });

  it('is explained by the next replica, whose directory has no key', async t => {
    const environment = { PORT: '0', DATABASE_URL: await emptyPostgres(t) };
    const first = await serve(t, dataDirectory(t), environment);
    const directory = dataDirectory(t);
    const next = start(t, ['serve'], { ...environment, PETSTORE_DATA: directory });
    await once(next.child.stderr!, 'data');
    const { stderr: welcome } = await next.end('SIGTERM');
    await first.end('SIGTERM');
    const line = `Admin key  not in ${join(directory, 'admin.key')}: the first replica stored it in its\n`;
    assert.ok(welcome.includes(line), welcome);
    assert.match(welcome, /or create another with\n {15}node_modules\S+ service\S+ keys create /);
    assert.ok(!existsSync(join(directory, 'admin.key')));
  });
});
