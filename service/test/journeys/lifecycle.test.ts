import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HOUR } from '../../src/kit/clock.ts';
import { documentedOperations, isStream } from '../contract/document.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { aPet } from '../support/factories.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { useShop } from '../support/use-shop.ts';

const shop = useShop({}, ({ api }) => aPet(api));

const deprecated = ['GET /pets/{petId}', 'PATCH /store/inventory/{petId}'];

const SUNSET = '2030-12-05T00:00:00.000Z';

const operations = documentedOperations.map(
  ({ method, path, operation }) => [method, path, operation] as const,
);

function namesOf(chosen: typeof operations): string[] {
  return chosen.map(([method, path]) => `${method} ${path}`);
}

/** Without `petId`, the path has none, and there is no link to a successor. */
function assertDeprecated({ headers }: ApiResponse, petId?: string, operationId = 'getPet'): void {
  assert.equal(headers.deprecation, '@1795219200'); // 2026-11-21T00:00:00Z
  assert.equal(headers.sunset, 'Thu, 05 Dec 2030 00:00:00 GMT');
  const successor = petId === undefined ? '' : `</pets?id=${petId}>; rel="successor-version", `;
  assert.equal(
    headers.link,
    `${successor}</docs/operations/${operationId}>; rel="deprecation"; type="text/html"`,
  );
}

describe('the deprecated GET /pets/{petId}', () => {
  it('announces its sunset and its successor in every response', async () => {
    const { api, clientWith } = shop;
    const orders = await clientWith({ scopes: ['orders:read'] });
    const responses: [response: ApiResponse, status: number, petId: string][] = [
      [await api.get('/pets/1'), 200, '1'],
      [await api.head('/pets/1'), 200, '1'],
      [await api.get('/pets/1', { 'if-none-match': '*' }), 304, '1'],
      [await api.get('/pets/99'), 404, '99'],
      [await api.get('/pets/1?x=1'), 400, '1'],
      [await orders.get('/pets/1'), 403, '1'],
      [await api.as().get('/pets/1'), 401, '1'],
    ];
    for (const [response, status, petId] of responses) {
      assert.equal(response.status, status);
      assertDeprecated(response, petId);
    }
  });

  it('names no successor for a path without an ID, which the successor would reject as well', async t => {
    const { api, clock } = await startTestApp(t);
    for (const id of ['abc', 'a%3Eb', '01', '1.0', '+1', '%201', '9223372036854775808']) {
      const response = await api.get(`/pets/${id}`);
      assertInvalid(response);
      assertDeprecated(response);
      assertInvalid(await api.get(`/pets?id=${id}`));
    }
    for (const id of ['0', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808']) {
      assertDeprecated(await api.get(`/pets/${id}`), id);
      assert.deepEqual((await api.get(`/pets?id=${id}`)).body, []);
    }
    clock.set(SUNSET);
    const ended = await api.get('/pets/abc');
    assertRejected(ended, 410, 'operation_sunset', /use \/pets\?id=\{petId\} instead$/);
    assertDeprecated(ended);
  });

  it('has a successor that returns the same pet', async () => {
    const { headers, body } = await shop.api.get('/pets/1');
    const [, successor] = /<([^>]+)>; rel="successor-version"/.exec(String(headers.link))!;
    assert.deepEqual((await shop.api.get(successor!)).body, [body]);
  });

  it('works until the last millisecond before its sunset, and returns 410 from then on', async t => {
    const { api, clock } = await startTestApp(t);
    await aPet(api);
    clock.set(SUNSET);
    clock.advance(-1);
    assert.equal((await api.get('/pets/1')).status, 200);
    clock.advance(1);
    for (const path of ['/pets/1', '/pets/99']) {
      const afterSunset = await api.get(path);
      assertRejected(afterSunset, 410, 'operation_sunset', /\/pets\?id=/);
      assertDeprecated(afterSunset, path.slice('/pets/'.length));
    }
    assert.equal((await api.head('/pets/1')).status, 410);
    assert.equal((await api.get('/pets/1', { 'if-none-match': '*' })).status, 410);
    assertRejected(await api.as().get('/pets/1'), 401, 'missing_api_key');
    clock.advance(24 * 365 * HOUR);
    assert.equal((await api.get('/pets/1')).status, 410);
  });

  it('does not affect other operations when it ends', async t => {
    const { api } = await startTestApp(t, { clock: new TestClock(SUNSET) });
    const id = await aPet(api);
    assert.equal((await api.get(`/pets?id=${id}`)).body.length, 1);
    assert.equal((await api.patch(`/pets/${id}`, { name: 'Rex' })).status, 200);
    assert.equal((await api.get(`/store/inventory/${id}`)).status, 200);
    assert.equal((await api.delete(`/pets/${id}`)).status, 204);
  });

  it('can be kept past its sunset by a setting', async t => {
    const { api, clock } = await startTestApp(t, {
      environment: { PETSTORE_KEEP_SUNSET: 'true' },
    });
    await aPet(api);
    clock.set(SUNSET);
    const kept = await api.get('/pets/1');
    assert.equal(kept.status, 200);
    assertDeprecated(kept, '1');
  });
});

describe('the deprecated PATCH /store/inventory/{petId}', () => {
  const patch = (api: Client, path: string) => api.patch(path, { quantity: 5 });

  it('announces its sunset in every response, without a link to its successor, which has the same URL', async () => {
    const { api, clientWith } = shop;
    const orders = await clientWith({ scopes: ['orders:read'] });
    const responses: [response: ApiResponse, status: number][] = [
      [await patch(api, '/store/inventory/1'), 200],
      [await api.patch('/store/inventory/1', {}), 400],
      [await patch(api, '/store/inventory/abc'), 400],
      [await patch(api, '/store/inventory/99'), 404],
      [await patch(orders, '/store/inventory/1'), 403],
      [await patch(api.as(), '/store/inventory/1'), 401],
    ];
    for (const [response, status] of responses) {
      assert.equal(response.status, status);
      assertDeprecated(response, undefined, 'changeStock');
    }
  });

  it('does what PUT does, which is not deprecated', async () => {
    const changed = await patch(shop.api, '/store/inventory/1');
    const set = await shop.api.put('/store/inventory/1', { quantity: 5 });
    assert.deepEqual([set.status, set.body], [200, changed.body]);
    assert.deepEqual([set.headers.deprecation, set.headers.sunset], [undefined, undefined]);
  });

  it('cannot be part of a batch', async () => {
    const operation = { path: '/store/inventory/1', body: { quantity: 6 } };
    const run = (method: string) => shop.api.post('/batch', { operations: [{ ...operation, method }] });
    assertInvalid(await run('PATCH'));
    assert.equal((await run('PUT')).status, 200);
  });

  it('returns 410 from its sunset on, and names its successor', async t => {
    const { api } = await startTestApp(t, { clock: new TestClock(SUNSET) });
    await aPet(api);
    const ended = await patch(api, '/store/inventory/1');
    const message = assertRejected(ended, 410, 'operation_sunset');
    assert.equal(message, 'This operation was withdrawn on 2030-12-05; use PUT /store/inventory/1 instead');
    assertDeprecated(ended, undefined, 'changeStock');
    assert.equal((await api.put('/store/inventory/1', { quantity: 5 })).status, 200);
  });
});

it('deprecation is in the contract for exactly these operations, with their sunset date', () => {
  const inContract = operations.filter(
    ([, , operation]) => operation.deprecated !== undefined || operation['x-deprecated-sunset'] !== undefined,
  );
  assert.deepEqual(namesOf(inContract), deprecated);
  for (const [, , operation] of inContract)
    assert.deepEqual([operation.deprecated, operation['x-deprecated-sunset']], [true, '2030-12-05']);
});

it('the operations of events and webhooks are beta, and the newest of them experimental', () => {
  const newest = ['GET /history', 'GET /events/checkpoint', 'GET /events/seals'];
  const inContract = operations.filter(
    ([, , { tags }]) => tags.includes('Events') || tags.includes('Webhooks'),
  );
  const of = (stability: string) =>
    namesOf(inContract.filter(([, , operation]) => operation['x-stability'] === stability));
  assert.deepEqual(of('experimental'), newest);
  assert.equal(of('beta').length, inContract.length - newest.length);
});

it('stability is reported by X-Stability in every response of an operation that is not stable, and in no other', async () => {
  const { api } = shop;
  const unstable = operations.filter(([, , operation]) => operation['x-stability'] !== undefined);
  assert.ok(unstable.length > 0);
  for (const [method, template, operation] of operations) {
    const path = template.replace(/\{\w+\}/g, '99');
    const stability = operation['x-stability'];
    for (const client of [api, api.as()]) {
      const response = await client.send(isStream(operation) ? 'HEAD' : method, path);
      assert.equal(response.headers['x-stability'], stability, `${method} ${path} → ${response.status}`);
    }
  }
  const unstablePath = '/keys/1/usage';
  assert.equal((await api.get(unstablePath)).headers['x-stability'], 'experimental');
  const unchanged = await api.get(unstablePath, { 'if-none-match': '*' });
  assert.deepEqual([unchanged.status, unchanged.headers['x-stability']], [304, 'experimental']);
});
