import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { formatDateTime } from '../../src/kit/dates.ts';
import { Receiver } from '../events/receiver.ts';
import { useCommandShop } from '../support/command-shop.ts';
import { contract } from '../support/contract.ts';
import { isFormula, spreadsheetCells } from '../support/spreadsheet.ts';
import { until } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';

/** Operations without a command, and why. */
const exceptions: Record<string, string> = {
  'GET /pets/{petId}': 'deprecated: `pets get` uses its successor',
  'PUT /pets/{petId}': 'replaces all fields: `pets update` changes those that are given',
  'PUT /categories/{categoryId}': 'as for pets',
  'PUT /store/orders/{orderId}': 'as for pets',
  'PUT /webhooks/{webhookId}': 'as for pets',
  'PATCH /store/inventory/{petId}': 'does the same as PUT',
  'GET /account/plan-requests/{requestId}': '`account` shows the newest request',
  'GET /plan-requests/{requestId}': '`keys requests` shows all fields',
  'GET /healthz': 'for probes: `status` also reports problems',
  'GET /openapi.yaml': 'for programs',
  'GET /openapi.json': 'for programs',
};

type Definitions = typeof import('../../../cli/src/commands/index.ts');
type SharedOptions = typeof import('../../../cli/src/shared-options.ts');

const { shop, petstore, directory } = useCommandShop({
  environment: { PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' },
});
const used = new Set<string>();
let definitions: Definitions['commands'];
let reserved: string[];

type Item = Record<string, unknown>;

/** Runs a command with `--json`. Returns its items, after checking what it printed and which operations it called. */
async function json(...args: string[]): Promise<Item[]> {
  // `account` is a command, and `account upgrade` another one.
  const [longer, shorter] = [args.slice(0, 2).join(' '), args[0]].map(words =>
    definitions.find(({ name }) => name === words),
  );
  const named = (longer ?? shorter)!;
  const isOverview = named.overview !== undefined && named.name === args.join(' ');
  const definition = isOverview ? { ...named, ...named.overview } : named;
  used.add(definition.name);
  const logged = shop.logLines().length;
  const { code, stdout, stderr } = await petstore.run([...args, '--json']);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  const lines = stdout.split('\n');
  assert.equal(lines.pop(), '', 'the last line ends');
  const items: Item[] = lines.map(line => JSON.parse(line));
  for (const item of items)
    for (const name of Object.keys(item))
      assert.ok(
        definition.prints.fields.includes(name),
        `${args.join(' ')} prints the unknown field ${name}`,
      );
  const called = () => {
    const lines = shop.logLines().slice(logged);
    for (const { userAgent } of lines.filter(({ method }) => method))
      assert.match(String(userAgent), /^petstore-command\/\d+\.\d+\.\d+ \(node \d+\)$/);
    return [...new Set(lines.flatMap(({ method, route }) => (method ? [`${method} ${route}`] : [])))];
  };
  const expected = definition.operations ?? [];
  // The line of a stream is written when its connection has ended.
  await until('its calls are logged', () => called().length >= expected.length);
  assert.deepEqual(called(), expected, args.join(' '));
  return items;
}

/** Runs a command with `--json` that prints one item. */
async function one(...args: string[]): Promise<Item & { id: number }> {
  const items = await json(...args);
  assert.equal(items.length, 1, args.join(' '));
  return items[0] as Item & { id: number };
}

describe('the commands of petstore', () => {
  before(async () => {
    definitions = (await petstore.load<Definitions>('commands/index.js')).commands;
    const { shared, implied } = await petstore.load<SharedOptions>('shared-options.js');
    reserved = [...Object.keys(shared), ...Object.keys(implied)];
  });

  let category: number;
  let pet: number;

  describe('with --json', () => {
    it('manages categories', async () => {
      const created = await one('categories', 'create', 'Ferrets', '--description', 'Playful');
      category = created.id;
      assert.deepEqual(created, { id: category, name: 'Ferrets', description: 'Playful' });
      assert.deepEqual(await json('categories', 'list', '--name', 'fer'), [created]);
      assert.deepEqual(await one('categories', 'update', `${category}`, '--description', ''), {
        id: category,
        name: 'Ferrets',
      });
      assert.deepEqual(await one('categories', 'get', `${category}`), { id: category, name: 'Ferrets' });
      const { id } = await one('categories', 'create', 'Empty');
      assert.deepEqual(await json('categories', 'delete', `${id}`), [{ id, outcome: 'deleted' }]);
    });

    it('manages pets', async () => {
      const created = await one('pets', 'create', 'Bandit', '--category', `${category}`);
      pet = created.id;
      assert.deepEqual(created, { id: pet, name: 'Bandit', categoryId: category, status: 'available' });
      const other = await one('pets', 'create', 'Éclair', '--category', `${category}`, '--status', 'sold');
      assert.deepEqual(await json('pets', 'list', '--status', 'sold', '--status', 'pending'), [other]);
      assert.deepEqual(await json('pets', 'list', '--sort', '-id', '--category', `${category}`), [
        other,
        created,
      ]);
      assert.deepEqual(await json('pets', 'search', 'ecl'), [other]);
      assert.deepEqual(await json('pets', 'get', `${other.id}`, `${pet}`), [other, created]);
      assert.deepEqual(await one('pets', 'update', `${pet}`, '--name', 'Rex'), { ...created, name: 'Rex' });
      assert.deepEqual(await json('pets', 'delete', `${other.id}`), [{ id: other.id, outcome: 'deleted' }]);
    });

    it('manages stock', async () => {
      const entry = { petId: pet, quantity: 5, status: 'available' };
      assert.deepEqual(await one('stock', 'update', `${pet}`, '5'), entry);
      const why = ['--reason', 'damaged', '--note', 'The cage door broke'];
      assert.deepEqual(await one('stock', 'adjust', `${pet}`, '-2', ...why), { ...entry, quantity: 3 });
      await shop.app.db.numberEvents();
      const changes = (await shop.api.get(`/history?subject=store/inventory/${pet}&limit=1`)).body;
      assert.deepEqual([changes[0].reason, changes[0].note], [why[1], why[3]]);
      assert.deepEqual(await one('stock', 'adjust', `${pet}`, '2'), entry);
      assert.deepEqual(await json('stock', 'list', '--below', '6'), [entry]);
      assert.deepEqual(await json('stock', 'get', `${pet}`), [entry]);
    });

    it('manages orders', async () => {
      const placed = await one('orders', 'create', `${pet}`, '--quantity', '2');
      assert.deepEqual(placed, { id: placed.id, petId: pet, quantity: 2, complete: false });
      const draft = await one('orders', 'create');
      const twice = ['orders', 'create', `${pet}`, '--idempotency-key', 'once'];
      assert.deepEqual(await one(...twice), await one(...twice));
      assert.deepEqual(await one('orders', 'update', `${placed.id}`, '--quantity', '1'), {
        ...placed,
        quantity: 1,
      });
      assert.equal((await json('orders', 'list', '--complete', 'false')).length, 3);
      const [completed] = await json('orders', 'complete', `${placed.id}`);
      assert.equal(completed!.complete, true);
      assert.deepEqual(await json('orders', 'get', `${placed.id}`), [completed]);
      assert.deepEqual(await json('orders', 'delete', `${draft.id}`), [
        { id: draft.id, outcome: 'cancelled' },
      ]);
    });

    it('manages API keys', async () => {
      const created = await one(
        'keys',
        'create',
        'Shop',
        '--plan',
        'pro',
        '--scope',
        'pets:read',
        '--scope',
        'orders:read',
      );
      assert.match(String(created.key), /^psk_/);
      const { key: _, ...shown } = created;
      const id = `${created.id}`;
      assert.deepEqual(await json('keys', 'get', id), [shown]);
      const longAgo = Date.now() - 91 * 86_400_000;
      await shop.app.db.run('UPDATE api_keys SET created_at = ? WHERE id = ?', [longAgo, created.id]);
      const listed = await json('keys', 'list', '--revoked', 'false');
      assert.deepEqual(
        listed.map(({ unused }) => unused),
        [false, true],
      );
      assert.equal((await one('keys', 'update', id, '--plan', 'business')).plan, 'business');
      const rotated = await one('keys', 'rotate', id, '--grace', '60');
      assert.notEqual(rotated.key, created.key);
      assert.equal((await one('keys', 'usage', id)).keyId, created.id);
      await shop.app.keyLimits.flush();
      const [busiest] = await json('keys', 'usage');
      assert.deepEqual([busiest!.keyId, busiest!.name, busiest!.refused], [1, 'Administrator', 0]);
      assert.ok(Number(busiest!.admitted) >= 5);
      for (const [name, outcome] of [
        ['reset', 'reset'],
        ['unban', 'unbanned'],
        ['delete', 'revoked'],
      ] as const)
        assert.deepEqual(await json('keys', name, id), [{ id: created.id, outcome }]);
      const file = join(directory, 'leaks.json');
      const leaked = await one('keys', 'create', 'Leaked', '--plan', 'free', '--scope', 'pets:read');
      writeFileSync(
        file,
        `${' '.repeat(65_520)}"${leaked.key}", "${created.key}" and ${leaked.key}.\nx${leaked.key}`,
      );
      const reported = await one('keys', 'report-leak', file, '--source', 'A log');
      assert.deepEqual(reported, { file, found: 2, wellFormed: 2 });
      assert.equal((await shop.api.as(String(leaked.key)).get('/pets')).status, 401);
      const quotas = { perMinute: 9000, perDay: 90_000 };
      const large = await one(
        'keys',
        'create',
        'Large',
        '--plan',
        'enterprise',
        '--scope',
        'admin',
        '--per-minute',
        '9000',
        '--per-day',
        '90000',
      );
      assert.deepEqual(large.quotas, quotas);
    });

    it('requests a plan, and decides requests', async () => {
      const { keyId } = await one('account');
      const enterprise = ['enterprise', '--per-minute', '9000', '--per-day', '90000'];
      const first = await one('account', 'upgrade', 'business', '--note', 'More shops');
      assert.deepEqual([first.keyId, first.note, first.status], [keyId, 'More shops', 'open']);
      assert.deepEqual(await json('keys', 'requests', '--status', 'open'), [first]);
      const declined = await one('keys', 'decline', `${first.id}`, '--message', 'Enterprise');
      assert.deepEqual([declined.status, declined.message], ['declined', 'Enterprise']);
      const second = await one('account', 'upgrade', ...enterprise);
      assert.equal((await one('keys', 'approve', `${second.id}`)).status, 'approved');
      assert.deepEqual((await one('keys', 'get', `${keyId}`)).quotas, { perMinute: 9000, perDay: 90_000 });
      assert.deepEqual(
        (await json('keys', 'requests', '--key', `${keyId}`)).map(({ id }) => id),
        [second.id, first.id],
      );
      for (const args of [['enterprise'], ['pro', '--per-day', '5']])
        assert.match(
          (await petstore.run(['account', 'upgrade', ...args])).stderr,
          /belong to the plan enterprise/,
        );
    });

    it('lists and follows events', async () => {
      await shop.app.db.numberEvents();
      const listed = await json('events', 'list', '--type', 'pet.*', '--limit', '2');
      assert.deepEqual(valuesOf(listed, 'type'), ['pet.created', 'pet.created']);
      assert.deepEqual(
        await json('events', 'tail', '--from', '0', '--type', 'pet.*', '--limit', '2'),
        listed,
      );
    });

    it('shows the history and verifies the log', async () => {
      const seller = await shop.clientWith({
        scopes: ['orders:write', 'events:read', 'orders:read', 'pets:read'],
      });
      const { body: order } = await seller.post('/store/orders', { petId: pet });
      await shop.api.delete(`/store/orders/${order.id}`);
      await shop.app.db.numberEvents();
      const actor = ['--actor', 'test client'];
      const [entry] = await json('history', '--type', 'order.placed', '--since', '900w', ...actor);
      assert.deepEqual([entry!.actor, entry!.actorName], [`keys/${seller.keyId}`, 'Test client']);
      assert.match(String(entry!.change), /^petId \d+, quantity 1/);
      const exported = await json('export', 'history', '--type', 'order.*', ...actor);
      assert.deepEqual(
        exported.find(({ eventId }) => eventId === entry!.eventId),
        entry,
      );
      const csv = await petstore.run(['history', '--subject', 'keys/1', '--csv']);
      assert.match(
        csv.stdout,
        /^time,actorName,type,name,subject,change,reason,note\n[\s\S]*,key\.created,Administrator,keys\/1,/,
      );
      const formulas = { name: 'Formulas', description: 'a;=1+1' };
      const { body: category } = await shop.api.post('/categories', formulas);
      await shop.api.delete(`/categories/${category.id}`);
      await shop.app.db.numberEvents();
      const subject = ['--subject', `categories/${category.id}`];
      for (const [command, isRaw] of [
        [['history', '--csv'], false],
        [['export', 'history'], false],
        [['export', 'history', '--raw'], true],
      ] as const) {
        const { stdout } = await petstore.run([...command, ...subject]);
        for (const separator of [',', ';', '\t'])
          assert.equal(
            spreadsheetCells(stdout, separator).some(isFormula),
            isRaw && separator === ';',
            stdout,
          );
      }
      const nameless = await petstore.run(['history', '--actor', 'Nemo']);
      assert.deepEqual([nameless.code, nameless.stdout], [2, '']);
      assert.match(nameless.stderr, /No API key has the name "Nemo"/);
      const asSeller = { PETSTORE_API_KEY: seller.key };
      const own = await petstore.run(
        ['history', '--actor', 'Test client', '--type', 'order.placed', '--json'],
        asSeller,
      );
      assert.deepEqual(JSON.parse(own.stdout), entry);
      const other = await petstore.run(['history', '--actor', 'Administrator'], asSeller);
      assert.deepEqual([other.code, other.stdout], [2, '']);
      assert.match(other.stderr, /Only administrators can look up/);
      await shop.app.sweeper.run();
      await shop.app.db.numberEvents();
      const refused = await shop.api.get(`/history?type=access.refused&actor=keys/${seller.keyId}`);
      assert.deepEqual(refused.body, [], 'looking up a name is no attempt to read keys');
      const checkpoint = await one('events', 'checkpoint');
      const noted = `${checkpoint.id}:${checkpoint.seal}`;
      const verified = await one('events', 'verify', '--checkpoint', noted);
      assert.deepEqual(
        [verified.outcome, verified.lastId],
        [`as written, with the checkpoint ${checkpoint.id}`, String(checkpoint.id)],
      );
      const late = await petstore.run([
        ...'events verify --from'.split(' '),
        String(checkpoint.id),
        '--checkpoint',
        noted,
      ]);
      assert.equal(late.code, 2);
      assert.match(late.stderr, /is not after --from/);
      const forged = await petstore.run([
        'events',
        'verify',
        '--checkpoint',
        `${checkpoint.id}:${'0'.repeat(64)}`,
      ]);
      assert.deepEqual([forged.code, forged.stdout], [1, '']);
      assert.match(forged.stderr, /The checkpoint differs: an event up to \d+ was changed/);
    });

    it('manages webhooks and their deliveries', async t => {
      const endpoint = await Receiver.start();
      t.after(() => endpoint.close());
      const created = await one('webhooks', 'create', endpoint.url, '--type', 'order.*');
      assert.match(String(created.secret), /^whsec_/);
      const id = `${created.id}`;
      const { secret: _, ...shown } = created;
      assert.deepEqual(await json('webhooks', 'list'), [shown]);
      assert.deepEqual(await json('webhooks', 'get', id), [shown]);
      assert.notEqual((await one('webhooks', 'rotate', id)).secret, created.secret);
      assert.equal((await one('webhooks', 'update', id, '--all-types')).types, null);
      const delivery = `${(await one('webhooks', 'test', id, '--wait')).id}`;
      const deliveries = await json('webhooks', 'deliveries', id);
      assert.ok(deliveries.some(({ type }) => type === 'webhook.test'));
      assert.equal((await one('webhooks', 'delivery', id, delivery)).type, 'webhook.test');
      assert.equal((await json('webhooks', 'redeliver', id, delivery))[0]!.id, Number(delivery));
      endpoint.respondWith(500);
      assert.equal((await one('webhooks', 'replay', id, '--from', '0')).webhookId, created.id);
      const failingSince = async () => (await one('webhooks', 'list')).failingSince;
      await until('a delivery has failed', async () => (await failingSince()) !== null);
      const since = formatDateTime(shop.clock.now());
      assert.equal(await failingSince(), since);
      const table = await petstore.run(['webhooks', 'list']);
      assert.equal(table.stdout.trimEnd().split('\t').at(-1), since);
      assert.deepEqual(await json('webhooks', 'delete', id), [{ id: created.id, outcome: 'deleted' }]);
    });

    it('imports and exports', async () => {
      const file = join(directory, 'pets.csv');
      writeFileSync(file, 'name,category,quantity\nKaa,Snakes,3\n');
      const { created, rejected } = await one('import', file, '--create-categories', '--skip-existing');
      assert.deepEqual([created, rejected], [1, 0]);
      const [exported] = (await json('export', 'pets', '--stock')).toReversed();
      const { name, category, quantity } = exported!;
      assert.deepEqual([name, category, quantity], ['Kaa', 'Snakes', 3]);
      assert.equal((await json('export', 'orders')).length, 2);
      assert.equal((await json('export', 'categories')).length, 2);
      assert.equal((await json('export', 'stock')).length, 2);
    });

    it('forwards events to a local program', async () => {
      const program = await Receiver.start();
      const options = ['--forward-to', program.url, '--from', '0', '--type', 'pet.*', '--limit', '1'];
      const { type, status } = await one('listen', ...options);
      await program.close();
      assert.deepEqual([type, status], ['pet.created', 204]);
    });

    it('shows the account and the state of the service', async () => {
      assert.equal((await one('account')).plan, 'enterprise');
      assert.deepEqual(await one('status'), { status: 'ok' });
    });

    it('manages profiles', async () => {
      const file = join(directory, 'key');
      writeFileSync(file, `${shop.adminKey}\n`);
      const login = await one('login', '--api-key-file', file);
      assert.deepEqual(login, {
        profile: 'default',
        url: shop.origin,
        keyId: 1,
        name: 'Administrator',
        plan: 'enterprise',
        scopes: ['admin'],
      });
      const profile = { name: 'default', url: shop.origin, current: true };
      assert.deepEqual(await json('profiles', 'list'), [profile]);
      assert.deepEqual(await one('profiles', 'use', 'default'), profile);
      assert.deepEqual(await one('logout'), { ...profile, current: false });
    });

    it('prints a completion script', async () => {
      assert.equal((await one('completion', 'bash')).shell, 'bash');
    });

    it('was run with each command', () => {
      // These have tests of their own: one speaks a protocol, and the other one prints what the service sends.
      used.add('mcp').add('api');
      assert.deepEqual([...used].toSorted(), definitions.map(({ name }) => name).toSorted());
    });
  });

  describe('in their definitions', () => {
    it('call each operation of the contract, with few exceptions', () => {
      const called = definitions.flatMap(({ operations = [], overview }) => [
        ...operations,
        ...(overview?.operations ?? []),
      ]);
      const all = Object.entries(contract.paths).flatMap(([path, methods]) =>
        Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
      );
      assert.deepEqual([...new Set([...called, ...Object.keys(exceptions)])].toSorted(), all.toSorted());
      assert.deepEqual(
        called.filter(name => name in exceptions),
        [],
      );
    });

    it('have no parameter with the name of an option of all commands', () => {
      for (const { name, arguments: operands, options } of definitions)
        for (const key of Object.keys({ ...operands, ...options }))
          assert.ok(!reserved.includes(key), `${name}: ${key}`);
    });

    it('have examples that start with the command', () => {
      for (const { name, examples } of definitions) {
        assert.ok(examples.length > 0, name);
        for (const example of examples) assert.ok(`${example} `.startsWith(`petstore ${name} `), example);
      }
    });
  });
});
