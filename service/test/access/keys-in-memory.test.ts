import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { filled } from '../support/operations.ts';
import { definedOperations, exampleBody } from '../support/route-requests.ts';
import { startTestApp } from '../support/test-app.ts';

/** Creating a key changes none that a process may have in memory. */
const changing = definedOperations.filter(
  ({ route, operationId }) =>
    route.tag === 'API keys' && route.method !== 'GET' && operationId !== 'createApiKey',
);

describe('a key that a process has in memory', () => {
  it('is read again after every operation that changes keys, even with an Idempotency-Key', async t => {
    const { api, app, clientWith } = await startTestApp(t);
    assert.ok(changing.length >= 5);
    for (const operation of changing) {
      const { route, template } = operation;
      for (const headers of [{}, ...(route.method === 'POST' ? [{ 'idempotency-key': template }] : [])]) {
        const client = await clientWith({});
        assert.equal((await client.get('/pets')).status, 200);
        assert.ok(app.keyRing.lastKnown(client.key));
        const body = exampleBody(operation);
        const path = filled(template, client.keyId);
        const { status, text } = await api.send(route.method, path, { body, headers });
        assert.equal(status, route.success.status, text);
        assert.equal(app.keyRing.lastKnown(client.key), undefined, `${route.method} ${template}`);
      }
    }
  });
});
