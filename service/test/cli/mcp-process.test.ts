import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startOnPort } from '../../../scripts/servers/ports.ts';
import { Agent } from '../support/agent.ts';
import { BatchProxy } from '../support/batch-proxy.ts';
import { useCommandShop } from '../support/command-shop.ts';
import { readGuide } from '../support/guide.ts';
import { inTime } from '../support/until.ts';

const { shop, petstore, directory } = useCommandShop();

describe('the process of petstore mcp', () => {
  it('does not wait for an API key on standard input, which has the messages of the agent', async () => {
    const { code, stderr } = await petstore.start(['mcp', '--api-key-file', '-']).ended;
    assert.equal(code, 2, stderr);
    assert.match(stderr, /^Error: --api-key-file: standard input has the messages of the agent: name a file/);
  });

  /** What an agent sends that calls tools, each with its arguments. The first call has the ID 2. */
  const messagesOf = (...calls: readonly (readonly [name: string, input: object])[]) => {
    const agentInfo = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'script', version: '1' },
    };
    const messages = [
      { id: 1, method: 'initialize', params: agentInfo },
      { method: 'notifications/initialized' },
      ...calls.map(([name, input], i) => ({
        id: i + 2,
        method: 'tools/call',
        params: { name, arguments: input },
      })),
    ];
    return messages.map(message => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
  };

  it('sends the results of its calls before it ends, when the agent has closed standard input', async () => {
    const messages = messagesOf(
      ['read', { path: '/categories' }],
      ['write', { method: 'POST', path: '/categories', body: { name: 'From a script' } }],
    );
    const { code, stdout, stderr } = await petstore.start(
      ['mcp'],
      {},
      `${messages}{"jsonrpc":"1.0","id":9}\n`,
    ).ended;
    assert.equal(code, 0, stderr);
    const sent = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    const ids = sent.filter(({ result }) => result && !result.isError).map(({ id }) => id);
    assert.deepEqual(ids.toSorted(), [1, 2, 3]);
    assert.equal((await shop.api.get('/categories?name=From')).body.length, 1);
    assert.match(stderr, /^A message of the agent cannot be used: it is not a message of JSON-RPC 2\.0$/m);
  });

  it('ends with 130 when it is interrupted while the last calls run', async () => {
    const child = petstore.start(
      ['mcp'],
      {},
      messagesOf(['read', { path: '/events?cursor=latest&wait=30' }]),
    );
    await once(child.stdout!, 'data');
    child.kill('SIGINT');
    assert.equal((await inTime('the end', child.ended, 20)).code, 130);
  });

  it('ends with 130 when Ctrl-C interrupts it', async t => {
    const terminal = petstore.onTerminal(t, ['mcp']);
    terminal.type(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`);
    await terminal.shows('"result":{}');
    terminal.type('\x03');
    assert.equal((await inTime('the end', terminal.ended, 60)).code, 130);
  });

  it('reports a service that cannot be reached, and works when it is there', async () => {
    const again = new BatchProxy(shop.origin);
    try {
      await startOnPort(undefined, async port => {
        await using lonely = await Agent.start(petstore, [], { PETSTORE_URL: `http://127.0.0.1:${port}` });
        assert.match(await lonely.failure('search', {}), /Check that the service runs at http:/);
        await again.listen(port);
        assert.match((await lonely.call('search')).text, /^GET \/pets: /);
      });
    } finally {
      await again.close();
    }
  });

  it('starts as the guide configures it, also in llms.txt, with the profile of `petstore login`', async () => {
    const { blocks, prose } = readGuide('api-guide.md');
    const { mcpServers } = JSON.parse(blocks.find(({ language }) => language === 'json')!.text);
    const { command, args } = mcpServers.petstore;
    assert.ok(prose.includes(`claude mcp add petstore -- ${[command, ...args].join(' ')}`));
    assert.ok(prose.includes(`codex mcp add petstore -- ${[command, ...args].join(' ')}`));
    const file = join(directory, 'key');
    writeFileSync(file, shop.adminKey);
    const login = await petstore.run([
      'login',
      '--profile',
      'agent',
      '--api-key-file',
      file,
      '--url',
      shop.origin,
    ]);
    assert.equal(login.code, 0, login.stderr);
    await using configured = await Agent.start(petstore, args.slice(1), {
      PETSTORE_URL: '',
      PETSTORE_API_KEY: '',
    });
    assert.equal((await configured.json('read', { path: '/account' })).data.name, 'Administrator');
    assert.equal((await configured.client.listTools()).tools.length, 3);
    const response = await fetch(`${shop.origin}/llms.txt`);
    assert.match(await response.text(), /\[petstore mcp\]\(\/docs\/guide\/agents\.md\)/);
  });

  it('loads the protocol only when it is used', async () => {
    const hook = join(directory, 'no-protocol.mjs');
    writeFileSync(
      hook,
      `import { registerHooks } from 'node:module';
registerHooks({
  resolve(name, context, next) {
    if (/^(@modelcontextprotocol|minisearch)/.test(name)) throw new Error('The protocol is loaded');
    return next(name, context);
  },
});`,
    );
    const NODE_OPTIONS = `--import=${hook}`;
    assert.equal((await petstore.start(['pets', 'list'], { NODE_OPTIONS }).ended).code, 0);
    const { code, stderr } = await petstore.start(['mcp'], { NODE_OPTIONS }).ended;
    assert.deepEqual([code, stderr], [1, 'Error: The protocol is loaded\n']);
  });
});
