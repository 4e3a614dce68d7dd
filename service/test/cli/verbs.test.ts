import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { DAY, HOUR, MINUTE } from '../../src/kit/clock.ts';
import { Receiver } from '../events/receiver.ts';
import { useCommandShop } from '../support/command-shop.ts';
import { aPet } from '../support/factories.ts';
import { onTerminal } from '../support/terminal.ts';
import { inTime } from '../support/until.ts';
import { assertNone } from '../support/values.ts';

type Definitions = typeof import('../../../cli/src/commands/index.ts');

/** What a command of a group is called if it is one of these. */
const VERBS = ['create', 'list', 'get', 'update', 'delete'];
const EARLIER = ['add', 'place', 'set', 'cancel', 'revoke', 'remove', 'new', 'show'];

const { shop, petstore, directory } = useCommandShop({
  environment: { PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' },
});

/** Runs a command on a terminal, and types a response to its question. Returns what the terminal shows. */
async function answer(t: TestContext, args: readonly string[], question: string, text: string) {
  const terminal = petstore.onTerminal(t, args);
  await terminal.shows(question);
  terminal.type(`${text}\r`);
  const { code, stdout } = await inTime('the end', terminal.ended, 60);
  return { code, shown: stripVTControlCharacters(stdout) };
}

describe('the commands of a resource', () => {
  let definitions: Definitions['commands'];
  before(async () => {
    definitions = (await petstore.load<Definitions>('commands/index.js')).commands;
  });

  it('have the same verbs, and options of the same meaning the same names', () => {
    for (const { name, options = {} } of definitions) {
      assert.ok(!EARLIER.includes(name.split(' ')[1] ?? ''), name);
      for (const other of ['events', 'after', 'to', 'shipFrom', 'shipTo'])
        assert.ok(!(other in options), `${name}: ${other}`);
      if (options.from) assert.match(options.from.help, /ID of an event/, name);
    }
    const verbs = (group: string) =>
      definitions.flatMap(({ name }) => (name.startsWith(`${group} `) ? [name.split(' ')[1]!] : []));
    for (const group of ['pets', 'categories', 'orders', 'keys', 'webhooks'])
      assertNone(VERBS, verb => !verbs(group).includes(verb), group);
  });

  it('keep other names, which the help does not list and completion knows', async () => {
    const { complete } = await petstore.load<typeof import('../../../cli/src/complete.ts')>('complete.js');
    for (const { name, aliases = [] } of definitions)
      for (const alias of aliases) {
        const words = alias.split(' ');
        const { code, stdout } = await petstore.run([...words, '--help']);
        assert.equal(code, 0);
        assert.match(stdout, new RegExp(`^Usage: petstore ${alias} `));
        const overview = (await petstore.run(['help', ...words.slice(0, -1)])).stdout;
        assert.doesNotMatch(overview, new RegExp(`^  ${words.at(-1)} `, 'm'), name);
        assert.deepEqual(complete([...words, '--']), complete([...name.split(' '), '--']));
      }
    const id = await aPet(shop.api);
    assert.equal((await petstore.run(['stock', 'set', String(id), '3'])).stdout, `${id}\t3\tavailable\n`);
  });

  it('have help under `petstore help`, also for groups, and an unknown name is an error', async () => {
    for (const words of [[], ['pets'], ['pets', 'list']])
      assert.equal(
        (await petstore.run(['help', ...words])).stdout,
        (await petstore.run([...words, '--help'])).stdout,
      );
    const { code, stderr } = await petstore.run(['help', 'cats']);
    assert.deepEqual([code, stderr], [2, 'Error: There is no command "cats": petstore --help lists all\n']);
  });

  it('ask on a terminal before they delete, unless --yes is set, and not in a script', async t => {
    assertNone(definitions, ({ name, confirms }) => name.endsWith(' delete') && confirms === undefined);
    const create = async () => (await shop.clientWith({ scopes: ['pets:read'] })).keyId;
    const [kept, first, second] = [await create(), await create(), await create()];
    const isRevoked = async (id: number) => (await shop.api.get(`/keys/${id}`)).body.revokedAt !== null;
    const refused = await answer(t, ['keys', 'revoke', String(kept)], `API keys ${kept}? [y/N]`, '');
    assert.equal(refused.code, 1);
    assert.match(refused.shown, /Error: Nothing was changed/);
    const agreed = await answer(t, ['keys', 'delete', String(first)], `API keys ${first}? [y/N]`, 'y');
    assert.equal(agreed.code, 0, agreed.shown);
    const { code } = await inTime(
      'the end',
      petstore.onTerminal(t, ['keys', 'delete', String(second), '--yes']).ended,
      60,
    );
    assert.equal(code, 0);
    const script = await create();
    assert.equal((await petstore.start(['keys', 'delete', String(script)], {}, '').ended).code, 0);
    assert.deepEqual(await Promise.all([kept, first, second, script].map(isRevoked)), [
      false,
      true,
      true,
      true,
    ]);
  });

  it('end with 130 when Ctrl-C or Ctrl-D ends a question', async t => {
    const { keyId } = await shop.clientWith({});
    for (const key of ['\x03', '\x04']) {
      const terminal = petstore.onTerminal(t, ['keys', 'delete', String(keyId)]);
      await terminal.shows(`API keys ${keyId}? [y/N]`);
      terminal.type(key);
      const { code, stdout } = await inTime('the end', terminal.ended, 60);
      assert.equal(code, 130, stdout);
    }
  });

  it('ask on the terminal, although their output goes to a file', async t => {
    const file = join(directory, 'deleted');
    const { keyId } = await shop.clientWith({});
    const words = ['sh', '-c', '"$@" > "$0"', file, process.execPath, petstore.bin];
    const command = [...words, 'keys', 'delete', String(keyId), '--json'];
    const terminal = onTerminal(t, command, petstore.environment);
    await terminal.shows(`API keys ${keyId}? [y/N]`);
    terminal.type('y\r');
    assert.equal((await inTime('the end', terminal.ended, 60)).code, 0);
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { id: keyId, outcome: 'revoked' });
  });

  it('do not ask on a terminal if their input comes from elsewhere', async t => {
    const { keyId } = await shop.clientWith({});
    const words = ['sh', '-c', '"$@" < /dev/null', 'sh', process.execPath, petstore.bin];
    const { ended } = onTerminal(t, [...words, 'keys', 'delete', String(keyId)], petstore.environment);
    const { code, stdout } = await inTime('the end', ended, 60);
    assert.equal(code, 0, stdout);
  });

  it('ask for the pet of an order on a terminal, and state elsewhere that it is a draft', async t => {
    const id = await aPet(shop.api);
    const { code, shown } = await answer(t, ['orders', 'create'], 'ID of the pet', String(id));
    assert.equal(code, 0, shown);
    assert.match(shown, new RegExp(`petId +${id}`));
    const draft = await petstore.start(['orders', 'create', '--fields', 'id'], {}, '').ended;
    const order = draft.stdout.trim();
    assert.match(
      draft.stderr,
      new RegExp(`draft, which holds no stock: petstore orders update ${order} --pet PET`),
    );
  });

  it('create a test key, whose writes are stated as only tried out, once for a command', async () => {
    const args = ['keys', 'create', 'Tests', '--plan', 'free', '--scope', 'pets:write', '--kind', 'test'];
    const created = await petstore.run(args);
    assert.equal(created.code, 0, created.stderr);
    const [, PETSTORE_API_KEY = ''] = /(psk_test_\w+)/.exec(created.stdout)!;
    const stated = 'The API key is for tests: this was only tried out, and nothing is stored\n';
    const tried = petstore.start(['categories', 'create', 'Only tried'], { PETSTORE_API_KEY });
    const { code, stdout, stderr } = await tried.ended;
    assert.deepEqual([code, stderr], [0, stated]);
    assert.match(stdout, /Only tried/);
    const pets = [await aPet(shop.api), await aPet(shop.api)];
    const several = await petstore.run(['pets', 'delete', ...pets.map(String)], { PETSTORE_API_KEY });
    assert.deepEqual([several.code, several.stderr], [0, stated], 'once for several requests');
    const ids = (await shop.api.get('/categories?name=Only')).body;
    assert.deepEqual(ids, []);
    const listed = await petstore.run(['keys', 'list', '--name', 'Tests']);
    assert.match(listed.stdout, /^\d+\tTests\ttest\tfree\tpets:write/m);
  });

  it('state that a secret is shown once, and how to get another one when a repeated response lacks it', async () => {
    for (const [group, create] of [
      ['keys', ['keys', 'create', 'Shown once', '--plan', 'free', '--scope', 'pets:read']],
      ['webhooks', ['webhooks', 'create', 'http://127.0.0.1:9000/orders', '--disabled']],
    ] as const) {
      const twice = async (...command: string[]): Promise<number> => {
        const args = [...command, '--json', '--idempotency-key', command.join()];
        const [first, again] = [await petstore.run(args), await petstore.run(args)];
        assert.equal(first.code, 0, first.stderr);
        const { id, key, secret = key } = JSON.parse(first.stdout);
        assert.match(secret, /^(psk|whsec)_/);
        assert.equal(first.stderr, 'Store the secret now: it is not shown again\n');
        assert.ok(!again.stdout.includes(secret));
        const remedy = `run \`petstore ${group} rotate ${id}\``;
        assert.equal(again.stderr, `The response was repeated, without the secret: ${remedy}\n`);
        return id;
      };
      await twice(group, 'rotate', `${await twice(...create)}`);
    }
  });

  it('take times as numbers of minutes, hours, days and weeks ago, and as days here', async t => {
    const { since } = await petstore.load<typeof import('../../../cli/src/parameters.ts')>('parameters.js');
    const now = new Date(2027, 0, 31, 12).getTime();
    t.mock.timers.enable({ apis: ['Date'], now });
    for (const [text, time] of [
      ['30m', now - 30 * MINUTE],
      ['12h', now - 12 * HOUR],
      ['2d', now - 2 * DAY],
      ['1w', now - 7 * DAY],
      ['today', new Date(2027, 0, 31)],
      ['yesterday', new Date(2027, 0, 30)],
      ['2027-01-30', new Date(2027, 0, 30)],
    ] as const)
      assert.equal(since.parse(text), new Date(time).toISOString(), text);
    for (const text of ['2027-02-31', '2027-13-01', '2027-00-10'])
      assert.throws(() => since.parse(text), /does not exist/, text);
  });

  it('take durations as numbers of seconds, minutes and hours', async () => {
    const { duration } =
      await petstore.load<typeof import('../../../cli/src/parameters.ts')>('parameters.js');
    const durations = { '90': 90_000, '90s': 90_000, '5m': 5 * MINUTE, '2h': 2 * HOUR };
    for (const [text, milliseconds] of Object.entries(durations))
      assert.equal(duration('').parse(text), milliseconds, text);
  });

  it('take negative numbers, also after --', async () => {
    const id = String(await aPet(shop.api, { stock: 5 }));
    for (const words of [
      [id, '-1'],
      ['--', id, '-1'],
    ])
      assert.equal((await petstore.run(['stock', 'adjust', ...words])).code, 0);
    assert.equal((await shop.api.get(`/store/inventory/${id}`)).body.quantity, 3);
  });

  it('take negative numbers as values of their options', async () => {
    const created = await petstore.run(['categories', 'create', '--description', '-18', 'Freezer', '--json']);
    const { name, description } = JSON.parse(created.stdout);
    assert.deepEqual([name, description], ['Freezer', '-18']);
    const id = String(await aPet(shop.api, { stock: 5 }));
    const adjusted = await petstore.run(['stock', 'adjust', id, '--quiet', '-2', '--note', '-3', '--json']);
    assert.equal(JSON.parse(adjusted.stdout).quantity, 3);
    const rejected = await petstore.run(['orders', 'create', id, '--quantity', '-1']);
    assert.match(rejected.stderr, /quantity/);
  });

  it('state that a list is empty only on a terminal', async () => {
    const args = ['pets', 'list', '--name', 'unknown'];
    assert.deepEqual(await petstore.run(args, {}, { columns: 80 }), {
      code: 0,
      stdout: '',
      stderr: 'The list is empty\n',
    });
    assert.deepEqual(await petstore.run(args), { code: 0, stdout: '', stderr: '' });
  });
});

describe('petstore webhooks test --wait', () => {
  it('shows the response of the endpoint, and fails unless it is a success', async () => {
    const endpoint = await Receiver.start();
    const { body: webhook } = await shop.api.post('/webhooks', { url: endpoint.url });
    const test = () => petstore.run(['webhooks', 'test', String(webhook.id), '--wait', '--json']);
    const good = await test();
    assert.equal(good.code, 0, good.stderr);
    const { status, attempts } = JSON.parse(good.stdout);
    assert.deepEqual([status, attempts.length, attempts[0].status], ['delivered', 1, 204]);
    endpoint.handleWith(response => void response.writeHead(500).end('Broken'));
    const bad = await test();
    assert.equal(bad.code, 1);
    assert.equal(JSON.parse(bad.stdout).attempts[0].responseStart, 'Broken');
    assert.match(bad.stderr, /The endpoint did not accept the test event: .*500/);
    await shop.api.delete(`/webhooks/${webhook.id}`);
    await endpoint.close();
  });

  it('fails for a disabled webhook, also for one that is disabled before it received the event', async t => {
    const endpoint = await Receiver.start();
    const { body: webhook } = await shop.api.post('/webhooks', { url: endpoint.url });
    const path = `/webhooks/${webhook.id}`;
    // A command that still waits ends when its webhook is deleted.
    t.after(async () => {
      endpoint.release();
      await shop.api.delete(path);
      await endpoint.close();
    });
    const args = ['webhooks', 'test', String(webhook.id), '--wait'];
    endpoint.hold();
    const waiting = petstore.run(args);
    await endpoint.has(1);
    await shop.api.patch(path, { enabled: false });
    const stopped = await inTime('the end of the command', waiting, 60);
    assert.equal(stopped.code, 1);
    assert.equal(stopped.stdout, '');
    assert.match(
      stopped.stderr,
      new RegExp(
        `Webhook ${webhook.id} was disabled before it received the test event.*: run \`petstore webhooks update ${webhook.id} --enabled true\``,
      ),
    );
    const refused = await petstore.run(args);
    assert.notEqual(refused.code, 0);
    assert.equal(refused.stdout, '');
    assert.match(
      refused.stderr,
      new RegExp(`Webhook ${webhook.id} is disabled; enable it first \\(webhook_disabled\\)`),
    );
  });
});
