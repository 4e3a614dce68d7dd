import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { listenLocally } from '../support/local-server.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { dataDirectory, serve } from '../support/service-process.ts';
import { onTerminal, serveCommand } from '../support/terminal.ts';
import { until } from '../support/until.ts';

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: shop\r\n\r\n';

describe('SIGTERM', () => {
  it('starts the drain, which a second signal ends; then idle connections are closed', async t => {
    const service = await serve(t, dataDirectory(t), { PETSTORE_DRAIN_SECONDS: '600' });
    const { api } = service;
    const silent = new RawConnection(service.url);
    const idle = new RawConnection(service.url);
    idle.send(HEALTH);
    await until('the connection is idle', () => idle.received.endsWith('{"status":"ok"}'));

    service.child.kill('SIGTERM');
    await until('/readyz is 503', async () => (await api.get('/readyz')).status === 503);
    assert.equal((await api.post('/categories', { name: 'Late' })).status, 201);
    assert.equal(idle.socket.closed, false);

    const { code, stdout } = await service.end('SIGINT');
    await Promise.all([silent.closed(), idle.closed()]);
    assert.equal(code, 0);
    assert.match(stdout, /"signal":"SIGTERM","drainSeconds":600,"msg":"Shutting down"/);
    assert.doesNotMatch(stdout, /cut off/);
  });

  it('sent again after a second ends the drain, too', async t => {
    const service = await serve(t, dataDirectory(t), { PETSTORE_DRAIN_SECONDS: '600' });
    await until('the process ends', () => {
      service.child.kill('SIGTERM');
      // The last signal can arrive after the process has removed its handlers.
      return service.child.exitCode !== null || service.child.signalCode === 'SIGTERM';
    });
    assert.match((await service.ended).stdout, /"drainSeconds":600,"msg":"Shutting down"/);
  });

  it('gives a request that is incomplete at the end of the drain PETSTORE_SHUTDOWN_SECONDS', async t => {
    const service = await serve(t, dataDirectory(t), {
      PETSTORE_DRAIN_SECONDS: '600',
      PETSTORE_SHUTDOWN_SECONDS: '60',
    });
    const { hostname, port } = new URL(service.url);
    const late = new RawConnection(service.url);
    // After the first response, the service has accepted the connection and read the start of the second request.
    late.send(HEALTH + HEALTH.slice(0, 20));
    await until('the first response arrives', () => late.received.endsWith('{"status":"ok"}'));
    service.child.kill('SIGTERM');
    const ended = service.end('SIGINT');
    await until('the service stops listening', () => {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const socket = connect(Number(port), hostname, () => resolve(false)).on('error', () => resolve(true));
      return promise.finally(() => socket.destroy());
    });
    late.send(HEALTH.slice(20));
    const responses = await late.responses();
    assert.deepEqual(
      responses.map(({ status, headers }) => [status, headers.connection]),
      [
        [200, 'keep-alive'],
        [200, 'close'],
      ],
    );
    const { code, stdout } = await ended;
    assert.equal(code, 0);
    assert.doesNotMatch(stdout, /cut off/);
  });

  it('reports requests that were cut off only if there were any, however long the rest takes', async t => {
    const service = await serve(t, dataDirectory(t), {
      PETSTORE_SHUTDOWN_SECONDS: '0',
      PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true',
    });
    // Running attempts have two seconds at the end.
    const silent = createServer(() => {});
    const { api } = service;
    const url = await listenLocally(t, silent);
    const webhook = await api.post('/webhooks', { url, types: ['category.created'] });
    assert.equal(webhook.status, 201, webhook.text);
    const attempt = once(silent, 'request');
    assert.equal((await api.post('/categories', { name: 'Dogs' })).status, 201);
    await attempt;
    const { code, stdout } = await service.end('SIGTERM');
    assert.equal(code, 0);
    assert.doesNotMatch(stdout, /cut off/);
  });
});

for (const [what, redirection] of [
  ['input and output', ''],
  ['output', '< /dev/null'],
]) {
  it(`Ctrl-C on a terminal for ${what} starts no drain`, async t => {
    const command = ['sh', '-c', `exec "$@" ${redirection}`, 'sh', ...serveCommand];
    const terminal = onTerminal(t, command, { PORT: '0', PETSTORE_DATA: dataDirectory(t) });
    await terminal.shows('Try it:');
    assert.match(await terminal.interrupt(), /"signal":"SIGINT","drainSeconds":0,"msg":"Shutting down"/);
  });
}
