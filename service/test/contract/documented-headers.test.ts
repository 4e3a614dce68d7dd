import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describedRoutes } from '../../src/described-routes.ts';
import { ALLOW_PRIVATE } from '../events/webhook-shop.ts';
import type { Client } from '../support/client.ts';
import { assertMatchesContract } from '../support/contract.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { filled } from '../support/operations.ts';
import { exampleBody, isStream, pathToNothing } from '../support/route-requests.ts';
import { startTestApp } from '../support/test-app.ts';

it('a response without a header that is always sent does not match the contract, so that every test notices the loss', async t => {
  const { api, clientWith } = await startTestApp(t, { alone: false });
  const categoryId = await aCategory(api);
  await aPet(api, { categoryId });
  const small = await clientWith({ plan: 'enterprise', quotas: { perMinute: 1, perDay: 1 } });
  await small.get('/categories');
  const limits = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
  const requests: [
    client: Client,
    method: string,
    path: string,
    body: object | undefined,
    always: string[],
  ][] = [
    [api, 'POST', '/pets', { name: 'Rex', categoryId }, ['location', 'etag']],
    [api, 'GET', '/pets/1', undefined, ['deprecation', 'sunset', 'etag']],
    [api, 'GET', '/pets/999', undefined, ['deprecation', 'sunset']],
    [api.as(), 'GET', '/pets', undefined, ['www-authenticate']],
    [small, 'GET', '/categories', undefined, ['retry-after']],
  ];
  for (const [client, method, path, body, always] of requests) {
    const response = await client.send(method, path, body && { body });
    for (const name of [...limits, ...always]) {
      const { [name]: lost, ...headers } = response.headers;
      assert.notEqual(lost, undefined, `${method} ${path} has no ${name}`);
      assert.throws(
        () => assertMatchesContract({ method, path, ...response, headers }),
        new RegExp(`header ${name} is missing`, 'i'),
      );
    }
  }
});

it('every header that is sent is documented for its status by every operation that succeeds, is not modified, or is rejected', async t => {
  const { api, adminKey, origin } = await startTestApp(t, { environment: ALLOW_PRIVATE, alone: false });
  await anOrder(api, { petId: await aPet(api, { stock: 9, categoryId: await aCategory(api) }) });
  await api.post('/webhooks', { url: 'http://127.0.0.1:9/', enabled: false });
  const statuses = new Set<number>();
  // Each resource is deleted last.
  const routes = describedRoutes.toSorted(
    (a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'),
  );
  for (const route of routes) {
    const { method } = route;
    const path = isStream(route)
      ? pathToNothing(route)
      : filled(route.path, route.path.startsWith('/keys') ? 2 : 1);
    const body = exampleBody(route);
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
