import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ALLOW_PRIVATE } from '../events/webhook-shop.ts';
import { assertMatchesContract } from '../support/contract.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { filled } from '../support/operations.ts';
import { definedOperations, exampleBody, pathToNothing } from '../support/route-requests.ts';
import { startTestApp } from '../support/test-app.ts';

describe('every header that is sent is documented for its status', () => {
  it('by every operation that succeeds, is not modified, or is rejected', async t => {
    const { api, adminKey, origin } = await startTestApp(t, { environment: ALLOW_PRIVATE, alone: false });
    await anOrder(api, { petId: await aPet(api, { stock: 9, categoryId: await aCategory(api) }) });
    await api.post('/webhooks', { url: 'http://127.0.0.1:9/', enabled: false });
    const statuses = new Set<number>();
    // Each resource is deleted last.
    const operations = definedOperations.toSorted(
      (a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'),
    );
    for (const operation of operations) {
      const { method, template, isStream } = operation;
      const path = isStream
        ? pathToNothing(operation)
        : filled(template, template.startsWith('/keys') ? 2 : 1);
      const body = exampleBody(operation);
      const requests: Record<string, string>[] = [
        {},
        { 'if-none-match': '*' },
        { 'if-match': '"other"' },
        { 'api-version': '9' },
        { accept: 'text/html' },
        { 'x-api-key': 'psk_mistyped' },
      ];
      for (const headers of requests) {
        // The client compares every response with the contract.
        const { status } = await api.send(method, path, { headers, ...(body && { body }) });
        statuses.add(status);
      }
      statuses.add((await api.as().send(method, path, body && { body })).status);
    }
    for (const status of [200, 201, 204, 304, 400, 401, 404, 406, 412])
      assert.ok(statuses.has(status), `no response was ${status}`);
    const stream = await fetch(`${origin}/events/stream`, { headers: { 'x-api-key': adminKey } });
    const headers = Object.fromEntries(stream.headers);
    assertMatchesContract({
      method: 'HEAD',
      path: '/events/stream',
      status: stream.status,
      headers,
      text: '',
    });
    await stream.body!.cancel();
  });
});
