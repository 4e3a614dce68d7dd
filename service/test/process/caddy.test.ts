import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { debianEnvironment, debianProgram } from '../../../scripts/servers/debian-programs.ts';
import { Caddy } from '../support/caddy.ts';
import { composeFile, readProjectFile, root } from '../support/deploy-files.ts';
import { listenLocally } from '../support/local-server.ts';
import { dataDirectory, serve } from '../support/service-process.ts';
import { valuesOf } from '../support/values.ts';

async function shopBehindCaddy(t: TestContext) {
  const service = await serve(t, dataDirectory(t), { PETSTORE_TRUST_PROXY: '127.0.0.1' });
  const caddy = await Caddy.start(t, Number(new URL(service.url).port));
  return { service, caddy, key: { 'X-API-Key': service.adminKey } };
}

async function untilRead(response: IncomingMessage, text: string): Promise<void> {
  let read = '';
  for await (const chunk of response.setEncoding('utf8')) {
    read += chunk;
    if (read.includes(text)) return;
  }
  assert.fail(`The response ended without "${text}": ${read}`);
}

describe('the Caddyfile', () => {
  it(`is accepted by Caddy, in Caddy's own format`, t => {
    const directory = dataDirectory(t);
    const environment = { HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory };
    const caddy = (...args: string[]) =>
      spawnSync(debianProgram('caddy'), args, {
        encoding: 'utf8',
        env: { ...debianEnvironment(), ...environment, SHOP_DOMAIN: 'shop.example.org' },
      });
    const file = join(root, 'deploy/Caddyfile');
    const { status, stderr } = caddy('validate', '--config', file, '--adapter', 'caddyfile');
    assert.equal(status, 0, stderr);
    const adapted = JSON.parse(caddy('adapt', '--config', file, '--adapter', 'caddyfile').stdout);
    const { srv0: tls, srv1: plain } = adapted.apps.http.servers;
    assert.deepEqual([tls.listen, tls.routes[0].match], [[':443'], [{ host: ['shop.example.org'] }]]);
    assert.deepEqual(plain.listen, [':8080']);
    const grace = adapted.apps.http.grace_period / 1e9;
    assert.ok(grace > 0 && grace < Number.parseInt(composeFile().services.proxy.stop_grace_period, 10));
    assert.equal(caddy('fmt', file).stdout, readProjectFile('deploy/Caddyfile'));
  });

  it('serves the shop over TLS with a certificate of its own authority, and without TLS on the other port', async t => {
    const { caddy, key } = await shopBehindCaddy(t);
    const create = async (path: string, body: object) => {
      const response = await caddy.send({ path, method: 'POST', headers: key }, body);
      assert.equal(response.statusCode, 201);
      return (await json(response)) as { id: number };
    };
    const category = await create('/categories', { name: 'Dogs' });
    const pet = await create('/pets', { name: 'Rex', categoryId: category.id });
    const path = `/pets/${pet.id}`;
    assert.deepEqual(await json(await caddy.send({ path, headers: key })), pet);
    assert.deepEqual(await json(await caddy.sendPlain({ path, headers: key })), pet);
    await assert.rejects(caddy.send({ path, headers: key, ca: [] }), /unable to|self-signed/);
  });

  it('forwards an event when it happens, while the stream stays open', async t => {
    const { caddy, key } = await shopBehindCaddy(t);
    const stream = await caddy.send({ path: '/events/stream', headers: key });
    assert.equal(stream.statusCode, 200);
    const event = untilRead(stream, 'event: category.created');
    const created = await caddy.send({ path: '/categories', method: 'POST', headers: key }, { name: 'Dogs' });
    assert.equal(created.resume().statusCode, 201);
    await event;
  });

  it('gives the service the address of the client, whatever address the client sends', async t => {
    const { service, caddy } = await shopBehindCaddy(t);
    const [own, other] = ['127.0.0.5', '127.0.0.6'];
    const { body } = await service.api.post('/keys', {
      ...{ name: 'Till', plan: 'free', scopes: ['pets:read'] },
      allowedNetworks: [own],
    });
    const statusFrom = async (localAddress: string, headers: Record<string, string> = {}) => {
      const sent = { ...headers, 'X-API-Key': body.key };
      return (await caddy.send({ path: '/pets', localAddress, headers: sent })).resume().statusCode;
    };
    assert.deepEqual([await statusFrom(own), await statusFrom(other)], [200, 403]);
    const stated = (address: string) => ({ 'X-Forwarded-For': address });
    assert.deepEqual(
      [await statusFrom(own, stated(other)), await statusFrom(other, stated(own))],
      [200, 403],
    );
  });

  it('sends a request to another replica when one accepts no connection', async t => {
    const replica = createServer((_, response) => response.end());
    const port = Number(new URL(await listenLocally(t, replica)).port);
    const caddy = await Caddy.start(t, port, 1);
    const send = (method: string) => caddy.send({ path: '/pets', method });
    const responses = await Promise.all(Array.from({ length: 20 }, (_, i) => send(i % 2 ? 'POST' : 'GET')));
    assert.deepEqual(valuesOf(responses, 'statusCode'), Array(20).fill(200));
  });

  it('returns an error of the contract when no replica responds', async t => {
    const { service, caddy } = await shopBehindCaddy(t);
    const ended = once(service.child, 'close');
    service.child.kill('SIGKILL');
    await ended;
    const again = {
      GET: /; try again shortly$/,
      POST: /: the change may or may not have been made\. .* with an Idempotency-Key /,
    };
    const responses = Object.entries(again).map(async ([method, advice]) => {
      const response = await caddy.send({ path: '/pets', method });
      const { 'content-type': type, 'retry-after': wait } = response.headers;
      assert.deepEqual([type, wait], ['application/json', '2']);
      const { code, message, status } = (await json(response)) as Record<string, string | number>;
      assert.deepEqual([response.statusCode, code, status], [503, 'service_unavailable', 503]);
      assert.match(String(message), advice);
    });
    await Promise.all(responses);
  });
});
