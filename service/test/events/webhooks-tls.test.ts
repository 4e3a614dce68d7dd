import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { startTestApp } from '../support/test-app.ts';
import { certificate, privateKey } from './certificate.ts';
import { disconnect } from './receiver.ts';
import { ALLOW_PRIVATE } from './webhook-shop.ts';

/** Sends a test to an endpoint on this machine that shows a certificate of `hooks.example`; answers how that went. */
async function sendTo(t: TestContext, hostname: string) {
  let received = 0;
  const server = createServer({ key: privateKey, cert: certificate }, (request, response) => {
    received++;
    request.resume().on('end', () => response.end('Thanks'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => disconnect(server));
  const { app, api } = await startTestApp(t, {
    environment: ALLOW_PRIVATE,
    webhooks: { resolve: async () => [{ address: '127.0.0.1', family: 4 }] },
  });
  t.after(async () => {
    server.close();
    await once(server, 'close');
    await sleep(1);
  });
  const { port } = server.address() as AddressInfo;
  const { status } = await api.post('/webhooks', { url: `https://${hostname}:${port}/hook` });
  assert.equal(status, 201);
  await api.post('/webhooks/1/test');
  await app.dispatcher.runDue();
  const [attempt] = (await api.get('/webhooks/1/deliveries/1')).body.attempts;
  return { status: attempt.status, error: attempt.error, received };
}

function trust(t: TestContext): void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, certificate]);
  t.after(() => setDefaultCACertificates(before));
}

describe('an endpoint of HTTPS', () => {
  it('is sent to when its certificate is vouched for', async t => {
    trust(t);
    assert.deepEqual(await sendTo(t, 'hooks.example'), { status: 200, error: null, received: 1 });
  });

  it('is sent nothing when nobody vouches for its certificate', async t => {
    const { status, error, received } = await sendTo(t, 'hooks.example');
    assert.deepEqual([status, received], [null, 0]);
    assert.match(error, /self[- ]signed certificate/);
  });

  it('is sent nothing when its certificate is that of another name', async t => {
    trust(t);
    const { status, error, received } = await sendTo(t, 'other.example');
    assert.deepEqual([status, received], [null, 0]);
    assert.match(error, /does not match certificate/);
  });
});
