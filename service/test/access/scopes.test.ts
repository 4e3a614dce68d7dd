import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { newSecret } from '../../src/access/api-keys/secret.ts';
import { scopeNames } from '../../src/contract/scopes.ts';
import { describedRoutes } from '../../src/described-routes.ts';
import { HOUR, MINUTE } from '../../src/kit/clock.ts';
import { formatDateTime } from '../../src/kit/dates.ts';
import type { Route } from '../../src/routes/define-route.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { exampleBody, pathToNothing, scopesOf } from '../support/route-requests.ts';
import { startTestApp } from '../support/test-app.ts';
import { valuesOf } from '../support/values.ts';

interface Credential {
  name: string;
  client: Client;
  /** `undefined` for a key that is not valid. */
  scopes?: readonly string[];
  isMissing?: true;
}

const ordinaryScopes = scopeNames.filter(name => name !== 'admin');
const neededScopes = [...new Set(describedRoutes.flatMap(scopesOf))];

/** Sends a valid request for a resource that does not exist, so that an admitted one changes nothing. */
function send(client: Client, route: Route): Promise<ApiResponse> {
  const example = exampleBody(route);
  // An address that is rejected at once: a name without a public address is rejected after 3 seconds.
  const body = route.operationId === 'createWebhook' ? { ...example, url: 'https://10.0.0.1/' } : example;
  return client.send(route.method, pathToNothing(route), { body });
}

/** The outcome that the definition requires: a status and a code, or `admitted` for anything but 401 and 403. */
function expectedOutcome(route: Route, credential: Credential): string {
  if (route.scope === null) return 'admitted';
  if (credential.isMissing) return '401 missing_api_key';
  if (!credential.scopes) return '401 invalid_api_key';
  const has = (scope: string) => credential.scopes?.includes(scope);
  const lacksNone = has('admin') || (scopesOf(route).every(has) && (route.anyOfScopes?.some(has) ?? true));
  return lacksNone ? 'admitted' : '403 insufficient_scope';
}

function outcomeOf({ status, body, headers }: ApiResponse): string {
  // A batch was admitted if one of its operations was rejected: see below.
  if (headers['x-failed-operation'] !== undefined) return 'admitted';
  return status === 401 || status === 403 ? `${status} ${body.code}` : 'admitted';
}

/**
 * Whether a rejection names the scopes that the key lacks (all of them, or the first of several), or those of which it needs one, or
 * challenges the client for a key as RFC 6750 requires.
 */
function isExplained({ status, body, headers }: ApiResponse, route: Route, credential: Credential) {
  if (status === 401) {
    const error = credential.isMissing ? '' : ', error="invalid_token"';
    return headers['www-authenticate'] === `Bearer realm="petstore"${error}`;
  }
  if (status !== 403) return true;
  const missing = scopesOf(route).filter(scope => !credential.scopes?.includes(scope));
  const named = missing.length > 0 ? missing.slice(0, 1) : (route.anyOfScopes ?? []);
  return named.every(scope => body.message.includes(`\`${scope}\``));
}

async function everyCredential(t: TestContext) {
  const shop = await startTestApp(t);
  const { api, clock, clientWith } = shop;
  const expiring = await clientWith({ scopes: ['admin'], expiresAt: formatDateTime(clock.now() + HOUR) });
  const revoked = await clientWith({ scopes: ['admin'] });
  assert.equal((await api.delete(`/keys/${revoked.keyId}`)).status, 204);
  clock.advance(2 * HOUR);
  const credentials: Credential[] = [
    { name: 'no key', client: api.as(), isMissing: true },
    { name: 'a malformed key', client: api.as('psk_wrong') },
    { name: 'an unknown key', client: api.as(newSecret()) },
    { name: 'an expired key', client: expiring },
    { name: 'a revoked key', client: revoked },
  ];
  const add = async (name: string, scopes: readonly string[]) =>
    credentials.push({ name, client: await clientWith({ scopes: [...scopes] }), scopes });
  for (const scope of scopeNames) await add(`only ${scope}`, [scope]);
  for (const route of describedRoutes) {
    const scopes = scopesOf(route);
    if (scopes.length > 1) await add(`only ${scopes.join(' and ')}`, scopes);
    const anyOf = route.anyOfScopes;
    if (!anyOf) continue;
    for (const scope of anyOf) await add(`only ${[...scopes, scope].join(' and ')}`, [...scopes, scope]);
    await add(
      `all but ${anyOf.join(', ')} and admin`,
      ordinaryScopes.filter(name => !anyOf.includes(name)),
    );
  }
  for (const missing of neededScopes) {
    const others = ordinaryScopes.filter(name => name !== missing);
    await add(`all but ${missing} and admin`, others);
  }
  return { ...shop, credentials };
}

it('every operation, with every kind of credential, has the outcome that its definition requires, and explains a rejection', async t => {
  const { clock, credentials } = await everyCredential(t);
  const mismatches: string[] = [];
  const seen = new Set<string>();
  for (const route of describedRoutes) {
    // Requests without a valid key count against the address of the client.
    clock.advance(MINUTE);
    for (const credential of credentials) {
      const response = await send(credential.client, route);
      const expected = expectedOutcome(route, credential);
      const outcome = outcomeOf(response);
      seen.add(outcome);
      const { status, text } = response;
      const isWrong = outcome !== expected || status >= 500 || response.body?.code === 'route_not_found';
      if (isWrong || !isExplained(response, route, credential))
        mismatches.push(`${route.operationId} with ${credential.name}: ${status} ${text}, not ${expected}`);
    }
  }
  assert.deepEqual(mismatches, []);
  assert.equal(seen.size, 4, 'every outcome occurs');
  t.diagnostic(`${describedRoutes.length} operations × ${credentials.length} credentials`);
});

it('the route definitions use every scope, and leave only these operations without a key', () => {
  assert.deepEqual(neededScopes.toSorted(), scopeNames.toSorted());
  const open = describedRoutes.filter(({ scope }) => scope === null);
  assert.deepEqual(open.map(({ method, path }) => `${method} ${path}`).toSorted(), [
    'GET /healthz',
    'GET /openapi.json',
    'GET /openapi.yaml',
    'GET /readyz',
    'POST /keys/revoke-leaked',
  ]);
});

describe('a key with only a write scope', () => {
  it('sees a resource in the response to a write, also to one that changes nothing, and in no other response', async t => {
    const { api, clientWith } = await startTestApp(t);
    const petId = await aPet(api, { stock: 5 });
    await anOrder(api, { petId });
    const writes: [scope: string, collection: string, method: string, body: object][] = [
      ['pets:write', '/pets', 'PATCH', {}],
      ['pets:write', '/categories', 'PATCH', {}],
      ['orders:write', '/store/orders', 'PATCH', {}],
      ['inventory:write', '/store/inventory', 'PATCH', { quantity: 4 }],
    ];
    for (const [scope, collection, method, body] of writes) {
      const path = `${collection}/1`;
      const client = await clientWith({ scopes: [scope] });
      const written = await client.send(method, path, { body });
      assert.deepEqual([written.status, written.body], [200, (await api.get(path)).body], path);
      for (const read of [path, collection])
        assertRejected(await client.get(read), 403, 'insufficient_scope');
    }
  });

  it('learns from an error what prevents its change: an order names the units in stock', async t => {
    const { api, clientWith } = await startTestApp(t);
    const petId = await aPet(api, { stock: 5 });
    const client = await clientWith({ scopes: ['orders:write'] });
    const rejected = await client.post('/store/orders', { petId, quantity: 6 });
    assertRejected(rejected, 409, 'insufficient_stock', / has 5 in stock, /);
  });
});

it('a key without the scope is rejected before the body is read', async t => {
  const { clientWith } = await startTestApp(t);
  const client = await clientWith({ scopes: ['pets:read'] });
  assertRejected(await client.post('/pets', '{'), 403, 'insufficient_scope');
  assertRejected(await client.post('/pets', 'x'.repeat(70_000)), 403, 'insufficient_scope');
});

describe('a batch', () => {
  it('needs the scope of each of its operations', async t => {
    const { api, clientWith } = await startTestApp(t);
    const categoryId = await aCategory(api);
    const petId = await aPet(api, { categoryId, stock: 3 });
    const operations = [
      { method: 'POST', path: '/pets', body: { name: 'Rex', categoryId } },
      { method: 'PUT', path: `/store/inventory/${petId}`, body: { quantity: 9 } },
      { method: 'POST', path: '/store/orders', body: { petId } },
    ];
    const stocker = await clientWith({ scopes: ['pets:write', 'inventory:write'] });
    const rejected = await stocker.post('/batch', { operations });
    const message = assertRejected(rejected, 403, 'insufficient_scope');
    assert.match(message, /^Operation 2: The API key lacks the scope `orders:write`/);
    assert.equal(rejected.headers['x-failed-operation'], '2');
    const { body } = await stocker.post('/batch', { atomic: false, operations });
    assert.deepEqual(valuesOf(body.results, 'status'), [201, 200, 403]);
    const all = await clientWith({ scopes: ['pets:write', 'inventory:write', 'orders:write'] });
    assert.equal((await all.post('/batch', { operations })).status, 200);
  });

  it('is not replayed when the key has lost the scope of an operation that was executed', async t => {
    const { api, clientWith } = await startTestApp(t);
    const petId = await aPet(api, { stock: 3 });
    const seller = await clientWith({ scopes: ['pets:write', 'orders:write'] });
    for (const atomic of [true, false]) {
      const operations = [
        // Fails if that is allowed: the key has no scope for it.
        ...(atomic ? [] : [{ method: 'PUT', path: `/store/inventory/${petId}`, body: { quantity: 9 } }]),
        { method: 'POST', path: '/categories', body: { name: `Sold ${atomic}` } },
        { method: 'POST', path: '/store/orders', body: { petId } },
      ];
      const batch = { atomic, operations };
      const send = () => seller.post('/batch', batch, { 'idempotency-key': `sale ${atomic}` });
      const first = await send();
      assert.equal(first.status, 200, first.text);
      assert.deepEqual((await send()).body, first.body);
      await api.patch(`/keys/${seller.keyId}`, { scopes: ['pets:write'] });
      const rejected = await send();
      const message = assertRejected(rejected, 403, 'insufficient_scope');
      const index = operations.length - 1;
      assert.match(message, new RegExp(`^Operation ${index}: The API key lacks the scope \`orders:write\``));
      assert.equal(rejected.headers['idempotency-replayed'], undefined);
      await api.patch(`/keys/${seller.keyId}`, { scopes: ['pets:write', 'orders:write'] });
      assert.deepEqual((await send()).body, first.body);
    }
  });
});
