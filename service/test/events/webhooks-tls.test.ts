import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { close } from '../support/local-endpoint.ts';
import { startTestApp } from '../support/test-app.ts';
import { certificate, privateKey } from './certificate.ts';
import { ALLOW_PRIVATE, sendDue } from './webhook-shop.ts';

/** Sends a test event to a local endpoint with a certificate of `hooks.example`, and returns the result. */
async function sendTo(t: TestContext, hostname: string) {
  let received = 0;
  const server = createServer({ key: privateKey, cert: certificate }, (request, response) => {
    received++;
    request.resume().on('end', () => response.end('Thanks'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => close(server));
  const { app, api } = await startTestApp(t, {
    environment: ALLOW_PRIVATE,
    webhooks: { resolve: async () => [{ address: '127.0.0.1', family: 4 }] },
  });
  const { port } = server.address() as AddressInfo;
  const { status } = await api.post('/webhooks', { url: `https://${hostname}:${port}/hook` });
  assert.equal(status, 201);
  await api.post('/webhooks/1/test');
  await sendDue(app);
  const [attempt] = (await api.get('/webhooks/1/deliveries/1')).body.attempts;
  return { status: attempt.status, error: attempt.error, received };
}

function trust(t: TestContext): void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, certificate]);
  t.after(() => setDefaultCACertificates(before));
}

describe('an HTTPS endpoint', () => {
  it('gets deliveries when its certificate is trusted', async t => {
    trust(t);
    assert.deepEqual(await sendTo(t, 'hooks.example'), { status: 200, error: null, received: 1 });
  });

  it('gets nothing when its certificate is not trusted', async t => {
    const { status, error, received } = await sendTo(t, 'hooks.example');
    assert.deepEqual([status, received], [null, 0]);
    assert.match(error, /self[- ]signed certificate/);
  });

  it('gets nothing when its certificate has another name', async t => {
    trust(t);
    const { status, error, received } = await sendTo(t, 'other.example');
    assert.deepEqual([status, received], [null, 0]);
    assert.match(error, /does not match certificate/);
  });
});
