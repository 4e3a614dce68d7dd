import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { before, describe, it } from 'node:test';
import { useCommandShop } from '../support/command-shop.ts';
import { aPet } from '../support/factories.ts';
import { listenLocally } from '../support/local-server.ts';
import { inTime, until } from '../support/until.ts';

describe('petstore, when a command fails', () => {
  const { shop, petstore } = useCommandShop();
  let pet: string;
  before(async () => {
    pet = String(await aPet(shop.api, { name: 'Bandit' }));
  });

  /** Runs a command that fails. Returns its standard error; the API key is in no output, and data is not mixed with errors. */
  async function failure(
    code: number,
    args: string[],
    environment?: Record<string, string>,
  ): Promise<string> {
    const ended = await petstore.run(args, environment);
    assert.equal(ended.code, code, ended.stderr);
    assert.equal(ended.stdout, '');
    assert.ok(!ended.stderr.includes(shop.adminKey));
    return ended.stderr;
  }

  it('rejects an API key that no header can have at once, without showing it, and exits with 3', async () => {
    const stderr = await failure(3, ['pets', 'list'], { PETSTORE_API_KEY: 'psk_日本' });
    assert.equal(stderr, 'Error: The API key contains characters that are not allowed: copy it again\n');
  });

  it('rejects a file of --api-key-file that is empty at once, and exits with 3', async () => {
    const requests = () => shop.logLines().filter(({ msg }) => msg === 'Request').length;
    const before = requests();
    const stderr = await failure(3, ['pets', 'list', '--api-key-file', '/dev/null']);
    assert.equal(stderr, 'Error: The API key is empty\n');
    assert.equal(requests(), before);
  });

  it('rejects an API key on standard input that has something else, and exits with 2', async () => {
    for (const [args, input] of [
      [['keys', 'report-leak', '-'], 'the secrets'],
      [['api', 'POST', '/pets', '--body', '@-'], 'the body'],
    ] as const)
      assert.match(
        await inTime('the end', failure(2, [...args, '--api-key-file', '-']), 60),
        new RegExp(`standard input has ${input}: name a file`),
      );
  });

  it('suggests the command that was meant, and exits with 2', async () => {
    assert.match(await failure(2, ['pets', 'lst']), /unknown command 'lst' \(Did you mean list\?\)/);
    assert.match(await failure(2, ['pet', 'list']), /Did you mean pets\?/);
    assert.match(await failure(2, ['pets', 'list', '--statsu', 'sold']), /Did you mean --status\?/);
  });

  it('names the value that is wrong, and exits with 2', async () => {
    assert.match(
      await failure(2, ['pets', 'list', '--status', 'lost']),
      /--status: Use one of available, pending, sold/,
    );
    assert.match(await failure(2, ['pets', 'get', 'one']), /id: Write a whole number instead of "one"/);
    assert.match(
      await failure(2, ['events', 'list', '--from', 'latest']),
      /--from: Write an ID of an event such as 120 instead of "latest"/,
    );
    assert.match(
      await failure(2, ['events', 'tail', '--from', 'now']),
      /--from: Write an ID of an event such as 120 or latest instead of "now"/,
    );
    assert.match(
      await failure(2, ['pets', 'get', '9007199254740992']),
      /id: Write a number up to 9007199254740991 instead of "9007199254740992"/,
    );
    assert.match(
      await failure(2, ['pets', 'list', '--fields', 'id,nam']),
      /"nam". Fields: id, name, categoryId, status/,
    );
    assert.match(await failure(2, ['pets', 'update', pet]), /Nothing would change/);
    assert.match(await failure(2, ['pets', 'create', 'Rex']), /--category/);
    assert.match(await failure(2, ['status', '--url', 'shop.example']), /looks like https:/);
  });

  it('shows the message and the request ID of the service, which rejects a value, and exits with 2', async () => {
    const stderr = await failure(2, ['stock', 'update', pet, '99999999999']);
    assert.match(stderr, /^Error: .*quantity.* \(invalid_request\)\nRequest ID: \S+\n$/s);
    const [, requestId] = /Request ID: (\S+)/.exec(stderr)!;
    assert.ok(shop.logLines().some(line => line.requestId === requestId));
  });

  it('exits with 3 without a valid key, and states the remedy', async () => {
    assert.match(await failure(3, ['pets', 'list'], { PETSTORE_API_KEY: '' }), /run `petstore login`/);
    const mistyped = await failure(3, ['pets', 'list'], { PETSTORE_API_KEY: `${shop.adminKey}x` });
    assert.match(mistyped, /\(invalid_api_key\)\nRun `petstore login`/);
    const { key } = await shop.clientWith({ scopes: ['orders:read'] });
    assert.match(await failure(3, ['pets', 'list'], { PETSTORE_API_KEY: key }), /insufficient_scope/);
    const several = await failure(3, ['orders', 'delete', '1', '2', '3'], { PETSTORE_API_KEY: key });
    assert.equal(several.match(/insufficient_scope/g)?.length, 1, 'the reason that all have is stated once');
    assert.match(several, /3 of 3 failed/);
  });

  it('exits with 4 for what does not exist', async () => {
    assert.match(await failure(4, ['pets', 'get', '99']), /There is no pet 99 \(pet_not_found\)/);
    assert.match(await failure(4, ['orders', 'delete', '98', '99']), /2 of 2 failed/);
  });

  it('exits with 5 for a conflict', async () => {
    assert.match(await failure(5, ['orders', 'create', pet, '--quantity', '1000']), /insufficient_stock/);
  });

  it('exits with 6 when the wait for a limit would be longer than --max-wait', async () => {
    const { key } = await usedUp();
    const stderr = await failure(6, ['pets', 'list', '--max-wait', '0'], { PETSTORE_API_KEY: key });
    assert.match(stderr, /--max-wait \d+s/);
  });

  it('reports a wait, and ends with 130 when Ctrl-C interrupts it', async t => {
    const { key } = await usedUp();
    const child = petstore.start(['pets', 'list', '--max-wait', '24h'], {
      PETSTORE_API_KEY: key,
      // A timer, as a connection that is being opened would, keeps the process running.
      NODE_OPTIONS: '--import=data:text/javascript,setTimeout(()=>{},600000)',
    });
    t.after(() => child.kill('SIGKILL'));
    let stderr = '';
    const reported = new Promise<void>(resolve => {
      child.stderr!.on('data', text => {
        stderr += text;
        if (stderr.includes('\n')) resolve();
      });
    });
    await inTime('the report', reported);
    assert.match(stderr, /^Waiting \d{5} s for the limit of the API key …\n$/);
    child.kill('SIGINT');
    assert.equal((await inTime('the end', child.ended)).code, 130);
  });

  it('ends with 130 when Ctrl-C interrupts the report of a standard input that does not end', async t => {
    let isRead = false;
    const input = new Readable({
      read: () => {
        isRead = true;
      },
    });
    t.mock.getter(process, 'stdin', () => input);
    const stop = new AbortController();
    const ended = petstore.run(['keys', 'report-leak', '-'], {}, { signal: stop.signal });
    await until('it reads', () => isRead);
    stop.abort();
    assert.equal((await inTime('the end', ended)).code, 130);
  });

  for (const [words, input] of [
    [['account', '--api-key-file', '-'], () => shop.adminKey],
    [['login', '--api-key-file', '-'], () => shop.adminKey],
    [['api', 'POST', '/categories', '--body', '@-'], () => '{"name": "Ferrets"}'],
  ] as const)
    it(`waits for the standard input of \`petstore ${words.join(' ')}\`, and ends with 130 when Ctrl-C interrupts that`, async t => {
      const start = async () => {
        let isRead = false;
        const stdin = new Readable({
          read: () => {
            isRead = true;
          },
        });
        t.mock.getter(process, 'stdin', () => stdin);
        const stop = new AbortController();
        const ended = petstore.run(words, {}, { signal: stop.signal });
        await until('it reads', () => isRead);
        return { stdin, stop, ended };
      };
      const late = await start();
      late.stdin.push(`${input()}\n`);
      late.stdin.push(null);
      const { code, stderr } = await inTime('the end', late.ended);
      assert.equal(code, 0, stderr);
      const interrupted = await start();
      interrupted.stop.abort();
      assert.equal((await inTime('the end', interrupted.ended)).code, 130);
    });

  /** A key that has to wait for hours: only Ctrl-C ends that within the time of `inTime`. */
  async function usedUp(): Promise<{ key: string }> {
    const client = await shop.clientWith({ plan: 'enterprise', quotas: { perMinute: 1, perDay: 1 } });
    await client.get('/pets');
    return client;
  }

  it('exits with 7 when only some items fail', async () => {
    const { code, stdout, stderr } = await petstore.run(['pets', 'get', '98', pet, '99']);
    assert.equal(code, 7);
    assert.match(stdout, /\tBandit\t/);
    assert.match(stderr, /no pet 98.*\n.*no pet 99.*\nError: 2 of 3 failed/);
    // More than one request can have.
    const unknown = Array.from({ length: 100 }, (_, i) => `${100 + i}`);
    const many = await petstore.run(['pets', 'get', ...unknown, pet]);
    assert.equal(many.code, 7, many.stderr);
    assert.equal(many.stdout, stdout);
  });

  it('exits with 1 when nothing responds, and states the URL', async () => {
    // Nothing listens there, and `fetch` does not reject this port as it does others.
    const url = 'http://127.0.0.1:2';
    const stderr = await failure(1, ['status', '--url', url]);
    assert.match(stderr, new RegExp(`Check that the service runs at ${url}`));
  });

  it('exits with 2 when another server responds, and escapes what a terminal would execute', async t => {
    const server = createServer((_, response) => response.writeHead(418).end('\u001b]0;x\u0007teapot'));
    const url = await listenLocally(t, server);
    const stderr = await failure(2, ['status', '--url', url]);
    assert.match(stderr, /\\u001b\]0;x\\u0007teapot\n.*does not come from a pet store/);
  });
});
