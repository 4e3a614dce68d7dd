import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scopeNames } from '../../src/contract/scopes.ts';
import { MINUTE } from '../../src/kit/clock.ts';
import { documentedOperations, type ListedOperation } from '../contract/document.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { eventsOf } from '../support/event-log.ts';
import { aCategory, anOrder, aPet, namesOfNewWords, petsIn, stockOf } from '../support/factories.ts';
import { filledIn } from '../support/operation-values.ts';
import { filled } from '../support/operations.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { assertUnchanged, storedRows } from '../support/stored-rows.ts';
import { startTestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';
import { assertNone } from '../support/values.ts';

const shop = useShop();

const scopes = scopeNames.filter(scope => scope !== 'admin' && scope !== 'webhooks:write');

const ofTests = { kind: 'test', plan: 'free', scopes } as const;

function aTester(): Promise<Client & { key: string; keyId: number }> {
  return shop.clientWith({ ...ofTests });
}

/** Sends a request, and fails unless its response is marked as that of a test, and the store is as it was. */
async function tried(send: () => Promise<ApiResponse>): Promise<ApiResponse> {
  const before = await storedRows(shop.app.db);
  const response = await send();
  assert.equal(response.headers['x-test'], 'true', response.text);
  await assertUnchanged(shop.app.db, before);
  return response;
}

describe('a test key', () => {
  it('has a secret that shows its kind, also after a rotation, and its account shows it, too', async () => {
    const { api } = shop;
    const { key, keyId } = await aTester();
    const { body: rotated } = await api.post(`/keys/${keyId}/rotate`, {});
    for (const secret of [key, rotated.key]) {
      assert.match(secret, /^psk_test_[0-9A-Za-z]{38}$/);
      const { body } = await api.as(secret).get('/account');
      assert.deepEqual([body.kind, body.plan, body.scopes], ['test', 'free', scopes]);
    }
    assert.equal((await api.get(`/keys/${keyId}`)).body.kind, 'test');
  });

  it('has the plan Free and rights in the shop only, when it is created and later', async () => {
    const { api } = shop;
    const { keyId } = await aTester();
    for (const [settings, complaint] of [
      [{ plan: 'pro' }, /^Field `plan` of a test key must be `free`, .* but was `pro`$/],
      [{ plan: 'enterprise', quotas: { perMinute: 1, perDay: 1 } }, /must be `free`/],
      [
        { scopes: ['pets:read', 'admin'] },
        /^Field `scopes` of a test key can contain only .* contained `admin`$/,
      ],
      [{ scopes: ['webhooks:write'] }, /but contained `webhooks:write`$/],
      [{ origins: ['https://shop.example'] }, /^Field `origins` is for publishable keys only/],
    ] as const) {
      const created = await api.post('/keys', { name: 'Tests', ...ofTests, ...settings });
      assertInvalid(created, complaint);
      const changed = await api.patch(`/keys/${keyId}`, settings);
      assertInvalid(changed, complaint);
    }
    assertInvalid(await api.patch(`/keys/${keyId}`, { kind: 'secret' }));
    const { status, body } = await api.patch(`/keys/${keyId}`, { scopes: ['pets:read'] });
    assert.deepEqual([status, body.scopes], [200, ['pets:read']]);
  });

  it('that lacks a right gets the remedy that fits: no test key can have those of administrators', async () => {
    const reader = await shop.clientWith({ ...ofTests, scopes: ['pets:read'] });
    const messageOf = async (path: string) =>
      assertRejected(await reader.post(path, {}), 403, 'insufficient_scope');
    assert.match(await messageOf('/pets'), /`pets:write`: ask an administrator to add it/);
    assert.equal(
      await messageOf('/keys'),
      'The API key lacks the scope `admin`: no test key can have it, so call the operation with a secret key',
    );
  });

  it('reads as other keys do: its reads are not marked', async () => {
    const tester = await aTester();
    const petId = await aPet(shop.api);
    for (const path of ['/pets', `/store/inventory/${petId}`, '/events?cursor=latest', '/account']) {
      const { status, headers } = await tester.get(path);
      assert.deepEqual([status, headers['x-test']], [200, undefined], path);
    }
    assert.equal((await tester.head('/pets')).headers['x-test'], undefined);
  });
});

/** Bodies for operations whose example would change nothing. */
const bodies: Record<string, () => Promise<object>> = {
  changeCategory: async () => ({ description: 'Other dogs' }),
  revokeLeakedKeys: async () => ({ keys: [(await shop.clientWith({ scopes: ['pets:read'] })).key] }),
};

function successOf({ operation }: ListedOperation): number {
  return Number(Object.keys(operation.responses).find(status => status.startsWith('2')));
}

/** A response without what depends on the ID of a new resource. */
function withoutId({ status, body }: ApiResponse): unknown {
  const text = JSON.stringify(body, (name, value) =>
    ['id', 'petId', 'categoryId', 'etag', 'location', 'keyId', 'name'].includes(name) ? undefined : value,
  );
  return [status, text];
}

describe('each operation that writes, with a test key', () => {
  for (const listed of documentedOperations.filter(({ method }) => method !== 'GET')) {
    const { operation, method, path: template } = listed;
    const missing = (operation['x-required-scopes'] ?? []).filter(
      scope => !(scopes as string[]).includes(scope),
    );

    if (missing.length > 0) {
      it(`${operation.operationId} is rejected`, async () => {
        const tester = await aTester();
        const response = await tried(() => tester.send(method, filled(template, 77), { body: {} }));
        const message = assertRejected(response, 403, 'insufficient_scope');
        assert.match(message, new RegExp(`lacks the scope \`${missing[0]}\`: no test key can have it`));
      });
      continue;
    }

    it(`${operation.operationId} returns what the write would return, and leaves nothing`, async () => {
      const [tester, other] = [await aTester(), await shop.clientWith({ plan: 'free', scopes: [...scopes] })];
      const { parameters, body } = await filledIn(shop.api, listed);
      const path = template.replace(/\{(\w+)\}/g, (_, name) => String(parameters[name]));
      const sent = { body: (await bodies[operation.operationId]?.()) ?? body };
      const events = await eventsOf(shop, async () => {
        const test = await tried(() => tester.send(method, path, sent));
        assert.equal(test.status, successOf(listed), test.text);
        const real = await other.send(method, path, sent);
        assert.equal(real.headers['x-test'], undefined);
        assert.deepEqual(withoutId(test), withoutId(real));
      });
      assert.ok(events.length > 0, 'the real write has events');
      assertNone(events, ({ actor }) => actor === `keys/${tester.keyId}`);
    });
  }
});

describe('a write with a test key', () => {
  it('is rejected as the write would be', async () => {
    const { api } = shop;
    const tester = await aTester();
    const petId = await aPet(api, { stock: 3 });
    await anOrder(api, { petId });
    const { headers } = await api.get(`/pets?id=${petId}`);
    await api.patch(`/pets/${petId}`, { name: 'Meanwhile' });
    const { body: pet } = await api.get(`/pets?id=${petId}`);
    const name = (await api.get(`/categories/${pet[0].categoryId}`)).body.name;
    for (const [method, path, body, expected, sent] of [
      ['POST', '/store/orders', { petId, quantity: 3 }, '409 insufficient_stock', {}],
      [
        'PATCH',
        `/pets/${petId}`,
        { name: 'Stale' },
        '412 precondition_failed',
        { 'if-match': headers.etag! },
      ],
      ['DELETE', `/pets/${petId}`, undefined, '409 pet_has_open_orders', {}],
      ['DELETE', `/categories/${pet[0].categoryId}`, undefined, '409 category_in_use', {}],
      ['POST', '/categories', { name }, '409 category_name_taken', {}],
      ['POST', '/pets', { name: 'Rex', categoryId: 4_000_000 }, '422 unknown_category', {}],
      ['POST', '/pets', { name: '' }, '400 invalid_request', {}],
      ['PUT', '/store/inventory/4000000', { quantity: 1 }, '404 pet_not_found', {}],
      ['POST', '/store/orders', {}, '400 invalid_request', { 'idempotency-key': '"' }],
    ] as const) {
      const response = await tried(() => tester.send(method, path, { body, headers: sent }));
      assert.equal(`${response.status} ${response.body.code}`, expected, `${method} ${path}`);
    }
  });

  it('counts as one with any key of the plan Free, and is rejected over the limit', async () => {
    shop.clock.advance(MINUTE);
    const tester = await aTester();
    const remaining = async () =>
      (await tried(() => tester.post('/store/orders', {}))).headers['x-ratelimit-remaining'];
    assert.equal(await remaining(), '59');
    for (let i = 1; i < 60; i++) await tester.get('/pets?limit=1');
    const over = await tried(() => tester.post('/store/orders', {}));
    assertRejected(over, 429, 'rate_limit_exceeded', /^The 60 requests .* retry after \d+ s$/);
  });

  it('keeps no record of its Idempotency-Key: it is executed again, and a real key is not affected', async () => {
    const { api } = shop;
    const tester = await aTester();
    const petId = await aPet(api, { stock: 5 });
    const headers = { 'idempotency-key': 'sale-1' };
    for (const quantity of [2, 2, 3]) {
      const {
        status,
        body,
        headers: replied,
      } = await tried(() => tester.post('/store/orders', { petId, quantity }, headers));
      assert.deepEqual([status, body.quantity], [201, quantity]);
      assert.equal(replied['idempotency-replayed'], undefined);
    }
    const real = await api.post('/store/orders', { petId, quantity: 1 }, headers);
    assert.deepEqual([real.status, real.headers['idempotency-replayed']], [201, undefined]);
    assert.deepEqual(await stockOf(api, petId), ['available', 4]);
  });

  it('can have a new name that is found afterwards only where it was stored', async () => {
    const { api } = shop;
    const tester = await aTester();
    const categoryId = await aCategory(api);
    const pet = { name: 'Xylophonius', categoryId };
    await tried(() => tester.post('/pets', pet));
    const found = async () => (await api.get('/pets?q=xylofonius')).body.length;
    assert.equal(await found(), 0);
    await api.post('/pets', pet);
    assert.equal(await found(), 1);
  });
});

describe('a batch with a test key', () => {
  const label = (name: string) => ({ $label: name });

  it('uses what it creates, and leaves nothing', async () => {
    const tester = await aTester();
    const operations = [
      { method: 'POST', path: '/categories', body: { name: 'Only tried' }, label: 'tried' },
      { method: 'POST', path: '/pets', body: { name: 'Rex', categoryId: label('tried') }, label: 'rex' },
      { method: 'PUT', path: '/store/inventory/{rex}', body: { quantity: 3 } },
      { method: 'POST', path: '/store/orders', body: { petId: label('rex'), quantity: 3 }, label: 'order' },
      { method: 'POST', path: '/store/orders', body: { petId: label('rex') } },
      { method: 'DELETE', path: '/store/orders/{order}' },
      { method: 'PATCH', path: '/pets/{rex}', body: { status: 'sold' } },
    ];
    const each = await tried(() => tester.post('/batch', { operations, atomic: false }));
    const statuses = each.body.results.map(({ status }: { status: number }) => status);
    assert.deepEqual(statuses, [201, 201, 200, 201, 409, 204, 200]);
    const { name, status } = each.body.results[6].body;
    assert.deepEqual([name, status], ['Rex', 'sold']);

    const failed = await tried(() => tester.post('/batch', { operations }));
    assertRejected(failed, 409, 'pet_not_available', /^Operation 4: /);
    assert.equal(failed.headers['x-failed-operation'], '4');
  });

  it('that leaves words of names for after its commit leaves nothing', async t => {
    const { api, app, clientWith } = await startTestApp(t);
    const categoryId = await aCategory(api);
    const tester = await clientWith({ ...ofTests });
    const before = await storedRows(app.db);
    await petsIn(tester, categoryId, namesOfNewWords);
    await assertUnchanged(app.db, before);
  });
});
