import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import { Client } from '../support/client.ts';
import { buildConsole } from '../support/console-page.ts';
import { listenLocally } from '../support/local-server.ts';
import { assertExplained, dataDirectory, run, serve, start } from '../support/service-process.ts';
import { serveOnTerminal } from '../support/terminal.ts';
import { storeForProcesses } from '../support/test-store.ts';
import { until } from '../support/until.ts';

before(buildConsole);

const LINK = /(http:\/\/127\.0\.0\.1:\d+)\/console#sign-in=(psin_[0-9A-Za-z]{32})/;

/** Exchanges the ticket of a link, as the page of the console does. Returns the status, and the secret of the key. */
async function open(link: string): Promise<{ status: number; key: string }> {
  const [, origin, ticket] = LINK.exec(link)!;
  const response = await fetch(`${origin}/console/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ticket }),
  });
  const { key } = (await response.json()) as { key: string };
  return { status: response.status, key };
}

/** Starts `serve` with pipes, and returns everything that it writes. */
async function outputOfServe(t: TestContext, environment: Record<string, string>): Promise<string> {
  const service = start(t, ['serve'], { PORT: '0', PETSTORE_DRAIN_SECONDS: '0', ...environment });
  await once(service.child.stderr!, 'data');
  const { code, stdout, stderr } = await service.end('SIGTERM');
  assert.equal(code, 0, stderr);
  return stdout + stderr;
}

describe('the first start', () => {
  it('shows neither a key nor a link on a pipe: it names the file and the command', async t => {
    const { directory, environment } = await storeForProcesses(t);
    const output = await outputOfServe(t, environment);
    const secret = readFileSync(join(directory, 'admin.key'), 'utf8').trim();
    assert.match(secret, /^psk_/);
    for (const leak of [secret, 'psk_', '#sign-in']) assert.ok(!output.includes(leak), output);
    assert.ok(output.includes(`Admin key  in ${join(directory, 'admin.key')}\n`), output);
    assert.match(output, /Console +http:\S+\/console\n +for a link that signs in:\n/);
    const command = `PETSTORE_DATA='${directory}' node_modules/.bin/node service/src/main.ts sign-in-link`;
    assert.ok(output.includes(` ${command}\n`), output);
  });

  it('shows the key, and a link that signs in once, on a terminal', async t => {
    const { directory, environment } = await storeForProcesses(t);
    const settings = { PORT: '0', PETSTORE_DRAIN_SECONDS: '0', ...environment };
    const first = serveOnTerminal(t, settings);
    const shown = await first.shows('Try it:');
    const secret = readFileSync(join(directory, 'admin.key'), 'utf8').trim();
    assert.equal(shown.split(secret).length, 2, shown);
    assert.equal((await open(shown)).status, 200);
    assert.equal((await open(shown)).status, 401);
    await first.interrupt();
    const again = serveOnTerminal(t, settings);
    await again.shows('Try it:');
    const later = await again.interrupt();
    for (const leak of ['psk_', '#sign-in']) assert.ok(!later.includes(leak), later);
  });
});

describe('the command sign-in-link', () => {
  it('prints a link to the running service, which signs in once, and replaces an earlier link', async t => {
    const { directory, environment } = await storeForProcesses(t);
    const service = await serve(t, directory, environment);
    const settings = { ...environment, PORT: new URL(service.url).port };
    const [earlier, link] = [
      await run(t, ['sign-in-link'], settings),
      await run(t, ['sign-in-link'], settings),
    ];
    assert.equal(link.code, 0, link.stderr);
    assert.match(link.stdout, new RegExp(`^${LINK.source}\n$`), 'only the link, for scripts');
    assert.ok(link.stdout.startsWith(service.url));
    assert.equal(link.stderr, 'The link signs in once, within 15 minutes, in a browser on this machine\n');
    assert.equal((await open(earlier.stdout)).status, 401);
    const { status, key } = await open(link.stdout);
    assert.equal(status, 200);
    const api = new Client(service.url, key);
    t.after(() => api.close());
    const { body } = await api.get('/account');
    assert.deepEqual([body.name, body.scopes], ['Console on the first machine', ['admin']]);
    await until(
      'the event has a number',
      async () => (await api.get('/history?type=key.created')).body.length === 2,
    );
    const [entry] = (await api.get('/history?type=key.created')).body;
    assert.deepEqual(
      [entry.subject, entry.name, entry.actor, entry.reason],
      [`keys/${body.keyId}`, body.name, 'system', 'A link signed a browser in to the console'],
    );
    assert.equal((await open(link.stdout)).status, 401);
    const { stdout, stderr } = await service.end('SIGTERM');
    assert.ok(!`${stdout}${stderr}`.includes(LINK.exec(link.stdout)![2]!), 'the link is in no log');
  });

  it('reports that no service runs, that there is no store, and that other machines can connect', async t => {
    const { directory, environment } = await storeForProcesses(t);
    const settings = { ...environment, PORT: '1' };
    const service = await serve(t, directory, environment);
    await service.end('SIGTERM');
    const stopped = await run(t, ['sign-in-link'], settings);
    assert.deepEqual([stopped.code, stopped.stdout], [1, '']);
    assert.match(
      stopped.stderr,
      /^No service responds at http:\/\/127\.0\.0\.1:1: start it, or set HOST and PORT/,
    );
    for (const HOST of ['0.0.0.0', '::']) {
      const everywhere = await run(t, ['sign-in-link'], { ...settings, HOST });
      assert.deepEqual([everywhere.code, everywhere.stderr], [stopped.code, stopped.stderr], HOST);
    }
    const other = createServer((_request, response) => response.writeHead(404).end());
    const { port } = new URL(await listenLocally(t, other));
    const elsewhere = await run(t, ['sign-in-link'], { ...settings, PORT: port });
    assertExplained(elsewhere, /^No service responds at /, 1);
    const outside = await run(t, ['sign-in-link'], { ...settings, HOST: '192.0.2.1' });
    assert.deepEqual([outside.code, outside.stdout], [2, '']);
    assert.match(
      outside.stderr,
      /^The service listens on 192\.0\.2\.1:1, and links sign in only on a loopback address/,
    );
    const missing = await run(t, ['sign-in-link'], { PETSTORE_DATA: dataDirectory(t) });
    assert.deepEqual([missing.code, missing.stdout], [2, '']);
  });
});
