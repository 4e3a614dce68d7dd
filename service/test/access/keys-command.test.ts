import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { UsageError } from '../../src/commands/failure.ts';
import { keys as runKeys } from '../../src/commands/keys.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { emptyPostgres } from '../support/engines.ts';
import { assertRejected } from '../support/rejection.ts';
import { dataDirectory, run, serve, start } from '../support/service-process.ts';
import { startTestApp } from '../support/test-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { storeForProcesses } from '../support/test-store.ts';
import { valuesOf } from '../support/values.ts';
import { codes, statuses, usedUp } from './provoke-ban.ts';

const webShop = ['--name', 'Web shop', '--plan', 'free', '--scope', 'pets:read', '--scope', 'orders:write'];

/** A service at the current time, because the clock of the command cannot be moved, and the command on its store. */
async function aShop(t: TestContext, environment: Record<string, string> = {}) {
  const shop = await startTestApp(t, { clock: new TestClock(Date.now()), environment });
  /** Runs `keys …` as an operator would, and returns its standard output. */
  const keys = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(t, ['keys', ...args], shop.store.environment);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  return { ...shop, keys };
}

describe('the command keys, next to a running service', () => {
  it('creates a key, lists, shows and changes it, and revokes it, all within a second', async t => {
    const { api, clock, store, keys } = await aShop(t);
    const created = await run(t, ['keys', 'create', ...webShop], store.environment);
    assert.match(created.stdout, /^psk_[0-9A-Za-z]{38}\n$/, 'only the key, for scripts');
    assert.match(created.stderr, /^API key 2 \(Web shop\)\. It is shown only once: store it safely$/m);
    const client = api.as(created.stdout.trim());
    const response = await client.get('/pets');
    assert.deepEqual([response.status, response.headers['x-ratelimit-limit']], [200, '60']);
    assertRejected(await client.get('/keys'), 403, 'insufficient_scope');
    assert.equal(
      await keys('list'),
      '1\tAdministrator\tenterprise\tadmin\tactive\n2\tWeb shop\tfree\tpets:read,orders:write\tactive\n',
    );
    const plan = ['--plan', 'enterprise', '--per-minute', '70', '--per-day', '700', '--name', 'Partner'];
    const rest = ['--expires', '2999-01-01T00:00:00Z', '--scope', 'pets:read', '--scope', 'orders:read'];
    const changed = JSON.parse(await keys('change', '2', ...plan, ...rest));
    const { body } = await api.get('/keys/2');
    const unused = { lastUsedAt: null, lastUsedFrom: null };
    assert.deepEqual({ ...changed, ...unused }, { ...body, ...unused });
    assert.deepEqual(
      [body.name, body.plan, body.quotas, body.scopes, body.expiresAt],
      [
        ...['Partner', 'enterprise', { perMinute: 70, perDay: 700 }, ['pets:read', 'orders:read']],
        '2999-01-01T00:00:00.000Z',
      ],
    );
    clock.advance(SECOND);
    const orders = await client.get('/store/orders');
    assert.deepEqual([orders.status, orders.headers['x-ratelimit-limit']], [200, '70']);
    await keys('change', '2', '--per-minute', '80', '--expires', 'never');
    const again = (await api.get('/keys/2')).body;
    assert.deepEqual([again.quotas, again.expiresAt], [{ perMinute: 80, perDay: 700 }, null]);
    await keys('change', '2', '--network', '203.0.113.0/24', '--network', '2001:db8::/32');
    clock.advance(SECOND);
    assertRejected(await client.get('/pets'), 403, 'address_not_allowed');
    assert.equal(JSON.parse(await keys('change', '2', '--network', 'any')).allowedNetworks, null);
    assert.equal(await keys('revoke', '2'), 'API key 2 is revoked\n');
    clock.advance(SECOND);
    assertRejected(await client.get('/pets'), 401, 'invalid_api_key');
    assert.match(await keys('list'), /^2\t.*\trevoked \d{4}-\d\d-\d\dT/m);
    const late = await run(t, ['keys', 'rotate', '2'], store.environment);
    assert.deepEqual([late.code, late.stdout], [2, '']);
    assert.match(late.stderr, /^API key 2 was revoked at .* and cannot be changed; create another$/m);
  });

  it('leaves an event of the system for each change, with its origin and without a secret', async t => {
    const { app, api, keys } = await aShop(t);
    const created = await keys('create', ...webShop);
    const rotated = await keys('rotate', '2', '--grace', '0');
    for (const args of [
      ['change', '2', '--name', 'Till'],
      ['reset', '2'],
      ['revoke', '2'],
    ])
      await keys(...args);
    await app.db.numberEvents();
    const { body, text } = await api.get('/history?subject=keys/2');
    const origin = ['system', 'An operator used `keys` on the command line'];
    assert.deepEqual(valuesOf(body, 'type', 'name', 'actor', 'reason'), [
      ['key.revoked', 'Till', ...origin],
      ['key.limits_reset', 'Till', ...origin],
      ['key.updated', 'Till', ...origin],
      ['key.rotated', 'Web shop', ...origin],
      ['key.created', 'Web shop', ...origin],
    ]);
    assert.deepEqual(body[2].changes, [{ field: 'name', from: 'Web shop', to: 'Till' }]);
    const stored = JSON.stringify(await app.db.all('SELECT * FROM events')) + text;
    for (const secret of [created, rotated]) assert.ok(!stored.includes(secret.trim()));
    assert.doesNotMatch(stored, /psk_/);
  });

  it('creates publishable keys and keys with quotas, and lists more than one page', async t => {
    const { api, app, clientWith, keys } = await aShop(t);
    await Promise.all(Array.from({ length: 101 }, () => clientWith({})));
    const page = ['--name', 'Page', '--plan', 'enterprise', '--scope', 'pets:read', '--kind', 'publishable'];
    const origins = ['--origin', 'https://b.example', '--origin', 'https://a.example'];
    const quotas = ['--per-minute', '7', '--per-day', '70', '--expires', '2999-01-01T00:00:00Z'];
    assert.match(await keys('create', ...page, ...origins, ...quotas), /^psk_pub_[0-9A-Za-z]{38}\n$/);
    const shown = JSON.parse(await keys('show', '103'));
    assert.deepEqual(shown, (await api.get('/keys/103')).body);
    assert.deepEqual(
      [shown.origins, shown.quotas, shown.expiresAt],
      [['https://a.example', 'https://b.example'], { perMinute: 7, perDay: 70 }, '2999-01-01T00:00:00.000Z'],
    );
    const lines = (await keys('list')).trimEnd().split('\n');
    assert.match(lines.at(-1)!, /^103\t.*\texpires 2999-01-01T00:00:00\.000Z$/);
    await app.db.run('UPDATE api_keys SET expires_at = 0 WHERE id = 103');
    assert.match(await keys('list'), /^103\t.*\texpired 1970-01-01T00:00:00\.000Z$/m);
    assert.deepEqual(
      lines.map(line => Number(line.split('\t')[0])),
      Array.from({ length: 103 }, (_, i) => i + 1),
    );
  });

  it('rotates a key, and the service accepts both secrets during the grace period', async t => {
    const { api, clientWith, clock, store, keys } = await aShop(t);
    const old = await clientWith({});
    const printed = await keys('rotate', '2', '--grace', '3600');
    assert.match(printed, /^psk_[0-9A-Za-z]{38}\n$/, 'only the key, for scripts');
    const renewed = api.as(printed.trim());
    assert.deepEqual(await statuses(old, renewed), [200, 200]);
    const byDefault = api.as((await keys('rotate', '2')).trim());
    // A second after the command's own time, however long the command took.
    clock.advance(Date.now() + SECOND - clock.now());
    assert.deepEqual(await statuses(old, renewed, byDefault), [200, 200, 200], 'a day by default');
    const leaked = await run(t, ['keys', 'rotate', '2', '--grace', '0'], store.environment);
    assert.match(leaked.stderr, /It is shown only once\. Earlier secrets no longer work$/m);
    const last = api.as(leaked.stdout.trim());
    clock.advance(Date.now() + 2 * SECOND - clock.now());
    assert.deepEqual(await statuses(old, renewed, byDefault, last), [401, 401, 401, 200]);
  });

  it('shows the usage of a key, lifts its ban and resets its limits, which the service applies within a second', async t => {
    const shop = await aShop(t, {
      // The clock stays where it is, so the ban has also started in the command's time.
      PETSTORE_BAN_FORGIVENESS_SECONDS: '0',
      PETSTORE_BAN_STRIKES: '2',
      // Longer than all commands take.
      PETSTORE_BAN_MINUTES: '60',
    });
    const { api, app, clock, store, keys } = shop;
    const client = await usedUp(shop, 3);
    assert.deepEqual(await codes(client, 2), ['rate_limit_exceeded', 'api_key_banned']);
    await app.keyLimits.flush();
    const usage = JSON.parse(await keys('usage', '2'));
    const { admitted, refused } = usage.days[0];
    assert.deepEqual([usage.keyId, admitted, refused, usage.windows.day.limit], [2, 3, 2, 3]);
    assert.match(await keys('usage'), /^2\tTest client\t3\t2$/m);
    const withoutRedis = { ...store.environment, REDIS_URL: 'redis://127.0.0.1:1' };
    const { code, stderr } = await run(t, ['keys', 'usage', '2'], withoutRedis);
    assert.deepEqual(
      [code, stderr],
      [
        0,
        'Redis cannot be used (connect ECONNREFUSED 127.0.0.1:1): usage and bans are those that the store last had\n',
      ],
    );
    assert.match(await keys('list'), /^2\t.*\tbanned until \d{4}-\d\d-\d\dT/m);
    assert.equal(await keys('unban', '2'), 'API key 2 is no longer banned\n');
    clock.advance(SECOND);
    assert.deepEqual(await codes(client, 1), ['rate_limit_exceeded']);
    assert.equal((await api.get('/keys/2')).body.ban, null);
    assert.equal(await keys('unban', '2'), 'API key 2 was not banned\n');
    const cleared = 'The limits of API key 2 start again, and its ban is lifted if it had one\n';
    assert.equal(await keys('reset', '2'), cleared);
    clock.advance(SECOND);
    assert.deepEqual(await statuses(client), [200]);
  });

  const invalid: [args: string[], complaint: RegExp][] = [
    [
      [],
      /^The command is incomplete: use keys with one of create, list, show, change, rotate, revoke, unban, reset, usage$/,
    ],
    [['create'], /^Option --name is required: keys create needs --name, --plan and --scope$/],
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
    [['change', '1', '--plan', 'pro', '--per-minute', '-1'], /^--per-minute must be at least 1, but was -1$/],
    [['change', '1', '--plan', 'pro', '--per-minute', '7'], /^--per-minute and --per-day is? .*enterprise/],
    [
      ['create', '--name', 'A', '--plan', 'enterprise', '--scope', 'admin'],
      /^Plan `enterprise` requires --per-minute and --per-day$/,
    ],
    [['change', '1', '--kind', 'test'], /^There is no option --kind: --help lists all arguments$/],
    [['change', '1', '--scope', 'pets'], /^--scope must be one of .*, but was "pets"$/],
    [['change', '1', '--plan', 'gold'], /^--plan must be one of .*, but was "gold"$/],
    [['change', '1', '--per-day', 'many'], /^--per-day must be an integer .*, but was "many"$/],
    [['change', '1', '--expires', '2020-01-01T00:00:00Z'], /^--expires must be in the future/],
    [['change', '1', '--origin', 'pets.example'], /^--origin is for publishable keys only/],
    [['change', '1', '--scope', 'pets:read'], /^API key 1 is the last administrator's key/],
    [['change', '1'], /^Name at least one setting to change, such as --plan pro$/],
    [['revoke', '0x2'], /^Name one API key by its ID: keys revoke 3$/],
    [['revoke', '1'], /^API key 1 is the last administrator's key/],
    [['rotate', '1', '--grace', '-1'], /^--grace must be at least 0, but was -1$/],
    [['rotate', '1', '--grace', 'long'], /^--grace must be an integer .*, but was "long"$/],
    [['rotate', '1', '--grace'], /^Option --grace needs a value: write --grace=VALUE$/],
    [['rotate', '77'], /^There is no API key 77$/],
    [['list', '1'], /^Unexpected argument 1: --help lists all arguments$/],
    [['unban', '1', '2'], /^Name one API key by its ID: keys unban 3$/],
    [['usage', '1', '--day', '3'], /^There is no option --day: --help lists all arguments$/],
  ];

  it('explains invalid arguments in one sentence, changes nothing, and exits with 2', async t => {
    const { api, store } = await aShop(t);
    const { code, stdout, stderr } = await run(t, ['keys', 'revoke', '77'], store.environment);
    assert.deepEqual([code, stdout, stderr], [2, '', 'There is no API key 77\n']);
    // The other commands run in this process.
    const before = { ...process.env };
    Object.assign(process.env, store.environment);
    try {
      for (const [args, message] of invalid)
        await assert.rejects(
          runKeys(args),
          error => error instanceof UsageError && message.test(error.message),
          args.join(' '),
        );
    } finally {
      for (const name of Object.keys(store.environment)) {
        if (before[name] === undefined) delete process.env[name];
        else process.env[name] = before[name];
      }
    }
    assert.equal((await api.get('/keys')).body.length, 1);
  });
});

it('the command keys in a directory without a store does not create one, and reports the directory; it still prints its help', async t => {
  const directory = join(dataDirectory(t), 'elsewhere');
  const environment = { PETSTORE_DATA: directory };
  const { code, stdout, stderr } = await run(t, ['keys', 'create', ...webShop], environment);
  assert.deepEqual([code, stdout, existsSync(directory)], [2, '', false]);
  assert.match(stderr, new RegExp(`^There is no store in ${directory}: PETSTORE_DATA names`));
  const help = await run(t, ['keys', 'create', '--help'], environment);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /keys rotate ID/);
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
    const settings = { PORT: '0', PETSTORE_DRAIN_SECONDS: '0' };
    const environment = { ...settings, DATABASE_URL: await emptyPostgres(t) };
    const first = await serve(t, dataDirectory(t), environment);
    const directory = dataDirectory(t);
    const next = start(t, ['serve'], { ...environment, PETSTORE_DATA: directory });
    await once(next.child.stderr!, 'data');
    const { stderr: welcome } = await next.end('SIGTERM');
    await first.end('SIGTERM');
    const line = `Admin key  not in ${join(directory, 'admin.key')}: the first replica stored it in its\n`;
    assert.ok(welcome.includes(line), welcome);
    assert.match(
      welcome,
      /or create another with\n {15}PETSTORE_DATA=\S+ node_modules\S+ service\S+ keys create /,
    );
    assert.ok(!existsSync(join(directory, 'admin.key')));
  });
});
