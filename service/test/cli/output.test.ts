import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { before, describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { document } from '../contract/document.ts';
import { useCommandShop } from '../support/command-shop.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { until } from '../support/until.ts';

interface Parameter {
  name: string;
  schema: { maximum: number };
}

describe('the output of petstore', () => {
  const { shop, petstore } = useCommandShop();
  const longName = `Long ${'name '.repeat(30)}end`;

  before(async () => {
    const { api } = shop;
    const categoryId = await aCategory(api, { name: 'Ferrets' });
    for (const name of ['Bandit', longName, '猫']) await aPet(api, { name, categoryId });
    for (let i = 0; i < 120; i++) await api.post('/categories', { name: `Category ${i}` });
  });

  const terminal = { columns: 80 };
  const lines = (text: string) => text.trimEnd().split('\n');

  it('has columns separated by tabs without a terminal', async () => {
    const { stdout, stderr } = await petstore.run(['pets', 'list']);
    assert.equal(stdout, `1\tBandit\t1\tavailable\n2\t${longName}\t1\tavailable\n3\t猫\t1\tavailable\n`);
    assert.equal(stderr, '');
  });

  it('has only the fields of --fields, in their order', async () => {
    const { stdout } = await petstore.run(['pets', 'get', '1', '--fields', 'status,id']);
    assert.equal(stdout, 'available\t1\n');
    const json = await petstore.run(['pets', 'get', '1', '--fields', 'status,id', '--json']);
    assert.equal(json.stdout, '{"status":"available","id":1}\n');
    const nested = await petstore.run(['account', '--fields', 'windows.minute.limit']);
    assert.equal(nested.stdout, '1000000\n');
  });

  it('has at most as many items as --limit, and a note that there are more', async () => {
    const usual = await petstore.run(['categories', 'list']);
    assert.equal(lines(usual.stdout).length, 20);
    assert.match(usual.stderr, /There are more: .*--limit.*--all/);
    const more = await petstore.run(['categories', 'list', '--limit', '110', '--quiet']);
    assert.equal(lines(more.stdout).length, 110);
    assert.equal(more.stderr, '');
    const exact = await petstore.run(['categories', 'list', '--limit', '121']);
    assert.equal(exact.stderr, '');
    await shop.clientWith({});
    await shop.app.db.numberEvents();
    for (const list of [['keys', 'list'], ['history']])
      assert.match((await petstore.run([...list, '--limit', '1'])).stderr, /There are more/, list[0]);
  });

  it('has no note that there are more events when there are exactly as many as --limit', async () => {
    await shop.app.db.numberEvents();
    const events = ['events', 'list', '--type', 'category.created'];
    const more = await petstore.run([...events, '--limit', '120']);
    assert.equal(lines(more.stdout).length, 120);
    assert.match(more.stderr, /There are more/);
    const exact = await petstore.run([...events, '--limit', '121']);
    assert.equal(lines(exact.stdout).length, 121);
    assert.equal(exact.stderr, '');
  });

  it('has all items of a list with as few requests as the contract allows', async () => {
    const { parameters } = document.paths['/categories']!.get as unknown as { parameters: Parameter[] };
    const limit = parameters.find(({ name }) => name === 'limit');
    const pages = Math.ceil(121 / limit!.schema.maximum);
    for (const args of [
      ['categories', 'list', '--all', '--json'],
      ['export', 'categories', '--format', 'ndjson'],
    ]) {
      const logged = shop.logLines().length;
      const { stdout } = await petstore.run(args);
      assert.equal(lines(stdout).length, 121);
      // The log has its lines in the order of the responses.
      await petstore.run(['pets', 'get', '1']);
      const read = () =>
        shop
          .logLines()
          .slice(logged)
          .map(({ route }) => route);
      await until('the last request is logged', () => read().includes('/pets'));
      assert.equal(read().filter(route => route === '/categories').length, pages);
    }
  });

  it('is a table on a terminal, as wide as the terminal or COLUMNS at most', async () => {
    for (const [columns, width, COLUMNS = ''] of [
      [60, 60],
      [100, 100],
      [60, 100, '100'],
    ] as const) {
      const { stdout } = await petstore.run(['pets', 'list'], { COLUMNS }, { columns });
      const table = lines(stripVTControlCharacters(stdout));
      assert.match(table[0]!, /^ID {2}NAME +CATEGORY ID {2}STATUS$/);
      const position = table[0]!.indexOf('CATEGORY ID');
      assert.equal(Math.max(...table.map(line => line.length)), width);
      assert.match(table[2]!, /^2 {3}Long name .*… {2}1 /);
      // The character of the last name is two columns wide.
      assert.equal(table[3]!.indexOf('1'), position - 1);
    }
    const { stdout } = await petstore.run(['categories', 'list', '--all'], {}, terminal);
    assert.equal(lines(stdout).length, 1 + 121);
  });

  it('of the history has every change completely, and local times, however narrow the terminal is', async () => {
    await shop.app.db.numberEvents();
    const { stdout } = await petstore.run(['history', '--subject', 'pets/2'], {}, terminal);
    const table = lines(stripVTControlCharacters(stdout));
    assert.ok(Math.max(...table.map(line => line.length)) <= terminal.columns, stdout);
    const position = table[0]!.indexOf('CHANGE');
    const width = table[0]!.indexOf('REASON') - position;
    const change = table.slice(1).map(line => line.slice(position, position + width).trim());
    assert.match(change.join(' ').replaceAll(' ', ''), new RegExp(`name${longName.replaceAll(' ', '')},`));
    const entry = JSON.parse((await petstore.run(['history', '--subject', 'pets/2', '--json'])).stdout);
    // Swedish times are written in this way.
    const local = new Date(entry.time).toLocaleString('sv-SE');
    const time = table.slice(1).map(line => line.slice(0, table[0]!.indexOf('ACTOR')).trim());
    assert.equal(time.join(' ').trim(), local);
  });

  it('has a line for each field of one item on a terminal', async () => {
    const { stdout } = await petstore.run(['account'], {}, terminal);
    const shown = stripVTControlCharacters(stdout);
    assert.match(shown, /^keyId +1\n/);
    assert.match(shown, /^windows\.day\.limit +1000000000$/m);
  });

  it('has colours only on a terminal, and none with NO_COLOR', async t => {
    // One real terminal; the others are replaced.
    const isColoured = (text: string) => text !== stripVTControlCharacters(text);
    assert.ok(isColoured((await petstore.onTerminal(t, ['pets', 'list']).ended).stdout));
    assert.ok(!isColoured((await petstore.run(['pets', 'list'], { NO_COLOR: '1' }, terminal)).stdout));
    assert.ok(!isColoured((await petstore.run(['pets', 'list', '--json'], {}, terminal)).stdout));
    assert.ok(!isColoured((await petstore.run(['pets', 'list', '--help'])).stdout));
  });

  it('escapes what a terminal would execute, and what would begin another line or column', async () => {
    const { printable, json } =
      await petstore.load<typeof import('../../../cli/src/printable.ts')>('printable.js');
    assert.equal(printable('a\u001b[31mb\tc\n\u202e\u009bd'), 'a\\u001b[31mb\\tc\\n\\u202e\\u009bd');
    assert.equal(json({ a: '\u009b' }), '{"a":"\\u009b"}');
    await shop.api.patch('/categories/2', { description: 'One\n2\tTwo' });
    const { stdout } = await petstore.run(['categories', 'get', '2']);
    assert.equal(stdout, '2\tCategory 0\tOne\\n2\\tTwo\n');
  });

  it('ends quietly when its reader has read enough', async () => {
    const { stdout, stderr } = await petstore.shell(
      'petstore categories list --all | head -1; echo $PIPESTATUS',
    );
    assert.equal(stdout, '1\tFerrets\t\n0\n');
    assert.equal(stderr, '');
  });

  it('reports that its disk is full', async () => {
    const message = 'The output cannot be written: ENOSPC: no space left on device, write';
    const { code, stderr } = await petstore.shell('petstore categories list > /dev/full');
    assert.deepEqual([code, stderr], [1, `Error: ${message}\n`]);
    const inJson = await petstore.shell('petstore categories list --json > /dev/full');
    assert.deepEqual(JSON.parse(inJson.stderr), { message, exitCode: 1 });
  });

  it('is complete, also if errors cannot be written', async () => {
    const { code, stdout } = await petstore.shell('petstore categories get 999 1 2> /dev/full');
    assert.deepEqual([code, stdout], [7, '1\tFerrets\t\n']);
  });

  it('waits for a slow reader, and reads no further items meanwhile', async () => {
    const { print } = await petstore.load<typeof import('../../../cli/src/output.ts')>('output.js');
    let [read, written, ahead] = [0, 0, 0];
    async function* items() {
      for (; read < 50; read++) yield { name: 'x'.repeat(100) };
    }
    const write = (_text: string, _encoding: string, done: () => void) => {
      ahead = Math.max(ahead, read - written++);
      setImmediate(done);
    };
    const stdout = new Writable({ highWaterMark: 1, decodeStrings: false, write });
    const prints = { fields: ['name'] };
    await print({ output: 'list', prints }, items(), { isJson: true } as never, stdout as never);
    assert.deepEqual([written, ahead], [50, 0]);
  });

  it('states that an event from which a command starts may have expired', async () => {
    for (const words of [['listen'], ['events', 'tail'], ['webhooks', 'replay']]) {
      const { stdout } = await petstore.run([...words, '--help']);
      assert.match(
        stdout.replaceAll(/\s+/g, ' '),
        /0 for the first event, if the log still has it/,
        words[0],
      );
    }
  });

  it('is a help with the options, an example and the exit codes', async () => {
    const root = await petstore.run(['--help']);
    assert.match(root.stdout, /--json/);
    assert.match(root.stdout, /^ {2}7 {4}partial failure/m);
    const { stdout } = await petstore.run(['pets', 'list', '--help']);
    assert.match(stdout, /--status <value>.*available/);
    assert.match(stdout, /Examples:\n {2}petstore pets list --status available\n/);
  });

  it('completes groups, commands, options and values in bash, also scopes, which bash splits at the colon', async () => {
    const completed = {
      'petstore or': 'orders',
      'petstore orders c': 'create complete',
      'petstore --json pets list --st': '--status',
      'petstore pets list --qu': '--quiet',
      'petstore pets list --status ': 'available pending sold',
      'petstore pets list --status=so': 'sold',
      'petstore completion f': 'fish',
      'petstore keys create --scope pets:': 'read write',
    };
    // As the key Tab does.
    const tabs = Object.keys(completed).map(
      line => `COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; _petstore; echo "\${COMPREPLY[*]}"`,
    );
    const { stdout, stderr } = await petstore.shell(
      ['eval "$(petstore completion bash)"', ...tabs].join('\n'),
    );
    assert.equal(stderr, '');
    assert.deepEqual(lines(stdout), Object.values(completed));
  });

  it('is a completion for zsh and fish', async () => {
    assert.match((await petstore.run(['completion', 'zsh'])).stdout, /^#compdef petstore\n/);
    assert.match((await petstore.run(['completion', 'fish'])).stdout, /complete -c petstore /);
  });
});
