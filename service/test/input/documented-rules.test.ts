import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { document, documentedOperations, resolved, type SchemaObject } from '../contract/document.ts';
import { ALLOW_PRIVATE } from '../events/webhook-shop.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { validatorOf } from '../support/contract.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { bodyOf, filled } from '../support/operations.ts';
import { startTestApp } from '../support/test-app.ts';

/** The URL of a webhook, which the service accepts without a name server. */
const url = 'http://127.0.0.1:9/';

/** Values at the limits of a schema and just beyond them, and values that break common rules. */
function probesOf(schema: SchemaObject): unknown[] {
  const { type, format, minimum, maximum, maxLength, maxItems, items, enum: values } = schema;
  if (type === 'integer') {
    const limits = [minimum, maximum].filter(limit => limit !== undefined);
    return limits.flatMap(limit => [limit - 1, limit, limit + 1]);
  }
  if (values) return [...values, '', values[0]!.toUpperCase()];
  if (format === 'date-time') return ['2026-12-01T09:00:00Z', '2026-12-01T09:00:00', '2026-13-01T09:00:00Z'];
  if (format === 'uri')
    return ['http://127.0.0.1:9/a%20b', 'http://127.0.0.1:9/a b', 'http://127.0.0.1:9/ä', '//127.0.0.1'];
  if (type === 'string') {
    const long = ['a'.repeat(maxLength!), 'a'.repeat(maxLength! + 1)];
    const texts = ['', ' \u2003', ' a b\t', 'ä', 'a\tb', 'a\u0085', 'a\nb', `${'🐶'.repeat(199)}a`];
    return [...texts, ...long, 'latest', '0', '01', '-1'];
  }
  if (type === 'array' && items) {
    const item = resolved(items).enum?.[0] ?? (items.type === 'integer' ? 1 : 'pet.created');
    return [[], [item], Array(maxItems! + 1).fill(item)];
  }
  return [];
}

/** Rules that no schema can state: the value depends on others, or on what is stored. */
const BEYOND_SCHEMA = [
  /^There is no event type/,
  /^There is no subject/,
  /^Query parameter `cursor` must be taken unchanged from the Link header of a page with the same/,
  /^Field `url` must /,
  /^Field `id` must equal the ID in the path/,
  /^Plan `enterprise` requires `quotas`/,
  /^Query parameter `sort` (must|can) be .* when the list (is filtered by|has no filter)/,
  /^Field `expiresAt` must be in the future/,
  /^Field `(plan|scopes|origins)` .*(publishable|test) key/,
  /^Field `origins` /,
  /^Field `allowedNetworks`: .* is neither an address/,
];

/** Fails if the service accepts what the document forbids, or the other way around. */
function assertAgrees(isAllowed: boolean, { status, body }: ApiResponse, what: string): void {
  const isRejected = status === 400;
  if (isRejected && isAllowed && BEYOND_SCHEMA.some(rule => rule.test(body.message))) return;
  assert.equal(isRejected, !isAllowed, `${what}: ${status} ${body?.message}`);
}

/** A shop with every resource under ID 1, and another API key under ID 2, whose webhooks may send to this machine. */
async function startShop(t: TestContext): Promise<Client> {
  const { api, clientWith } = await startTestApp(t, { environment: ALLOW_PRIVATE });
  await anOrder(api, { petId: await aPet(api, { stock: 9, categoryId: await aCategory(api) }) });
  await api.post('/webhooks', { url, enabled: false });
  await clientWith({ plan: 'free', scopes: ['pets:read'] });
  return api;
}

/** A path with its IDs filled in. The key of the client itself is left alone, and so is its plan. */
function pathIn(template: string): string {
  if (template.startsWith('/plan-requests')) return filled(template, 77);
  return filled(template, template.startsWith('/keys') ? 2 : 1);
}

describe('a documented rule is the rule of the service', () => {
  it('for every field of a body: values at a limit are accepted, values beyond it are rejected', async t => {
    const api = await startShop(t);
    let tried = 0;
    for (const { method, path, operation } of documentedOperations) {
      const media = operation.requestBody?.content['application/json'];
      if (!media) continue;
      const isAllowed = validatorOf(media.schema);
      const known = bodyOf(operation)!;
      // Without other fields that a value could contradict.
      const example = { ...known.example, url };
      const required = Object.fromEntries(known.required.map(name => [name, example[name as 'url']]));
      for (const [name, schema] of Object.entries(known.properties)) {
        for (const value of probesOf(schema)) {
          const body = { ...required, [name]: value };
          const response = await api.send(method, pathIn(path), { body });
          assertAgrees(isAllowed(body), response, `${method} ${path} ${JSON.stringify(body).slice(0, 200)}`);
          tried++;
        }
      }
    }
    assert.ok(tried > 200, `only ${tried} were tried`);
  });

  it('for the quotas of a key: required for plan enterprise, and unknown to other plans', async t => {
    const api = await startShop(t);
    const schema = document.paths['/keys']!.post!.requestBody!.content['application/json']!.schema;
    const isAllowed = validatorOf(schema);
    const quotas = { perMinute: 10, perDay: 20 };
    for (const plan of ['free', 'pro', 'business', 'enterprise']) {
      const key = { name: 'Till', plan, scopes: ['pets:read'] };
      for (const body of [key, { ...key, quotas }, { ...key, quotas: { perMinute: 10 } }]) {
        assertAgrees(isAllowed(body), await api.post('/keys', body), JSON.stringify(body));
      }
      assert.equal(isAllowed({ ...key, quotas }), plan === 'enterprise');
      assert.equal(isAllowed(key), plan !== 'enterprise');
    }
  });

  it('for every query parameter', async t => {
    const api = await startShop(t);
    let tried = 0;
    for (const { method, path, operation } of documentedOperations) {
      for (const parameter of operation.parameters ?? []) {
        // A stream that begins does not end.
        if ('$ref' in parameter || parameter.in !== 'query' || path === '/events/stream') continue;
        const { name, schema } = parameter;
        const isAllowed = validatorOf(schema);
        for (const value of probesOf(schema)) {
          if (name === 'wait' && Number(value) > 0 && isAllowed(value)) continue;
          const query = new URLSearchParams(
            [value].flat().map((item): [string, string] => [name, String(item)]),
          );
          if (query.size === 0) continue;
          const response = await api.send(method, `${pathIn(path)}?${query}`);
          assertAgrees(isAllowed(value), response, `${method} ${path}?${String(query).slice(0, 200)}`);
          tried++;
        }
      }
    }
    assert.ok(tried > 100, `only ${tried} were tried`);
  });

  it('for API-Version and Idempotency-Key', async t => {
    const api = await startShop(t);
    const { ApiVersion, IdempotencyKey } = document.components.parameters;
    const isVersion = validatorOf(ApiVersion!.schema);
    for (const version of ['1', '1.0', '1.0.0', '', '0', '2', '1.0.1', '1.', 'v1', '1,1']) {
      const response = await api.get('/pets', { 'api-version': version });
      assertAgrees(isVersion(version), response, `API-Version ${version}`);
    }
    const isKey = validatorOf(IdempotencyKey!.schema);
    const [longest, tooLong] = ['k'.repeat(255), 'k'.repeat(256)];
    const keys = ['k', '"k"', 'a b', '" k "', 'a"b', '"a"b"', longest, `"${longest}"`];
    const malformed = ['', '""', '"', '"k', tooLong, `"${tooLong}"`, 'a\tb', 'cl\u00e9'];
    for (const key of [...keys, ...malformed]) {
      const response = await api.post('/store/orders', {}, { 'idempotency-key': key });
      assertAgrees(isKey(key), response, `Idempotency-Key ${key}`);
      assert.equal(response.status, malformed.includes(key) ? 400 : response.status, key);
      assert.notEqual(keys.includes(key) && response.status, 400, key);
    }
  });

  it('for X-Request-Id: an ID in another form is replaced', async t => {
    const api = await startShop(t);
    const isId = validatorOf(document.components.parameters.RequestId!.schema);
    for (const id of ['order-2041', 'a'.repeat(128), 'a'.repeat(129), 'a b', 'a"b', 'ü', '~a/b:c+d=_.-']) {
      const { headers } = await api.get('/pets', { 'x-request-id': id });
      assert.equal(headers['x-request-id'] === id, isId(id), id);
    }
  });
});
