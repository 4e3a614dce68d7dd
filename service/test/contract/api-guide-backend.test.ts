import assert from 'node:assert/strict';
import type { Server } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { aPet } from '../support/factories.ts';
import { importFromGuide } from '../support/guide-code.ts';
import { listenLocally } from '../support/local-server.ts';
import { startTestApp } from '../support/test-app.ts';

type Backend = (origin: string, key: string) => Server;

/** Starts the backend of the guide, and returns a function that sends it a request of a page. */
async function startBackend(t: TestContext, origin: string, key: string) {
  const orderBackend = (await importFromGuide(t, 'orderBackend')) as Backend;
  const backend = await listenLocally(t, orderBackend(origin, key));
  return async (method: string, path: string, headers: Record<string, string> = {}) => {
    const options = { method, headers: { connection: 'close', ...headers } };
    const response = await fetch(backend + path, options);
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  };
}

describe('the backend in the guide to the API', () => {
  it('orders a pet for a page that has no key, once for each Idempotency-Key', async t => {
    const { api, origin, clientWith } = await startTestApp(t, { alone: false });
    const petId = await aPet(api, { stock: 5 });
    const { key } = await clientWith({ scopes: ['orders:write'] });
    const send = await startBackend(t, origin, key);
    for (let i = 0; i < 2; i++) {
      const { status, body } = await send('POST', `/orders/${petId}`, { 'idempotency-key': 'basket-1' });
      assert.deepEqual([status, body.petId, body.quantity], [201, petId, 1]);
    }
    assert.equal((await send('POST', `/orders/${petId}`)).status, 201);
    assert.equal((await api.get(`/store/inventory/${petId}`)).body.quantity, 3);
    assert.deepEqual((await send('POST', '/orders/77')).body.code, 'unknown_pet');
  });

  it('does nothing else, and reports a service that it cannot reach', async t => {
    const { api, origin, adminKey } = await startTestApp(t, { alone: false });
    await aPet(api);
    const send = await startBackend(t, origin, adminKey);
    for (const [method, path] of [
      ['GET', '/orders/1'],
      ['POST', '/orders/1/..'],
      ['POST', '/orders/x'],
      ['POST', '/keys'],
    ] as const) {
      assert.equal((await send(method, path)).status, 404, path);
    }
    const unconnected = await startBackend(t, 'http://127.0.0.1:1', adminKey);
    assert.equal((await unconnected('POST', '/orders/1')).status, 502);
  });
});
