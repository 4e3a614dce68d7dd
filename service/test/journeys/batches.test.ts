import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lockOfPet } from '../../src/catalog/pets/pet-queries.ts';
import { describedRoutes } from '../../src/described-routes.ts';
import type { ApiResponse } from '../support/client.ts';
import { eventsOf } from '../support/event-log.ts';
import { aCategory, anOrder, aPet, stockOf } from '../support/factories.ts';
import { holdLocks } from '../support/hold-writes.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { useShop } from '../support/use-shop.ts';
import { valuesOf } from '../support/values.ts';

const shop = useShop();

function send(operations: object[], more: object = {}): Promise<ApiResponse> {
  return shop.api.post('/batch', { operations, ...more });
}

const create = (path: string, body: object, label?: string) => ({ method: 'POST', path, body, label });

// rules/shop.test.ts compares random batches with a model of their rules.
describe('POST /batch', () => {
  it('creates a category, a pet in it and its stock in one call, with the results of single requests', async () => {
    const events = await eventsOf(shop, async () => {
      const { status, headers, body } = await send([
        create('/categories', { name: 'Hounds' }, 'hounds'),
        create('/pets', { name: ' Rex ', categoryId: { $label: 'hounds' } }, 'rex'),
        { method: 'PUT', path: '/store/inventory/{rex}', body: { quantity: 3 } },
        create('/store/orders', { petId: { $label: 'rex' }, quantity: 2 }, 'order'),
        { method: 'DELETE', path: '/store/orders/{order}' },
      ]);
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(headers['x-stability'], 'experimental');
      const [category, pet, stock, order, cancelled] = body.results;
      const petId = pet.body.id;
      assert.equal(category.location, `/categories/${category.body.id}`);
      assert.deepEqual(pet.body, {
        id: petId,
        name: 'Rex',
        categoryId: category.body.id,
        status: 'available',
      });
      assert.equal(order.body.petId, petId);
      assert.deepEqual(cancelled, { status: 204 });
      for (const { location = `/store/inventory/${petId}`, etag, body: resource } of [category, pet, stock]) {
        const read = await shop.api.get(location);
        assert.deepEqual([read.headers.etag, read.body], [etag, resource]);
      }
    });
    assert.deepEqual(valuesOf(events, 'type'), [
      'category.created',
      'pet.created',
      'inventory.updated',
      'inventory.updated',
      'order.placed',
      'inventory.updated',
      'order.cancelled',
    ]);
  });

  it('names the operation that fails, and appends no event', async () => {
    const petId = await aPet(shop.api, { stock: 5 });
    const events = await eventsOf(shop, async () => {
      const failed = await send([
        { method: 'PUT', path: `/store/inventory/${petId}`, body: { quantity: 9 } },
        create('/store/orders', { petId, quantity: 10 }),
      ]);
      const message = assertRejected(failed, 409, 'insufficient_stock');
      assert.equal(failed.headers['x-failed-operation'], '1');
      assert.match(message, new RegExp(`^Operation 1: Pet ${petId} has 9 in stock`));
    });
    assert.deepEqual(events, []);
  });

  for (const [what, environment] of [
    [
      'recorded by a trace',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_EXPORTER_OTLP_TIMEOUT: '100' },
    ],
    ['not recorded', {}],
  ] as const) {
    it(`has a transaction that runs alone, and that of a single operation does not: ${what}`, async t => {
      const { api, app } = await startTestApp(t, { environment });
      const write = t.mock.method(app.db, 'write');
      const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
      const batch = (name: string) => ({ operations: [create('/categories', { name })] });
      for (const headers of [{ traceparent, 'idempotency-key': 'import-1' }, { traceparent }])
        assert.equal((await api.post('/batch', batch(Object.keys(headers).join()), headers)).status, 200);
      assert.equal((await api.post('/categories', { name: 'Cats' }, { traceparent })).status, 201);
      const alone = write.mock.calls.filter(call => call.arguments[1]?.alone);
      assert.equal(alone.length, 2);
    });
  }
});

it('a batch is executed also when its client disconnects', async t => {
  const { adminKey, api, app, logLines, origin } = await startTestApp(t);
  const petId = await aPet(api, { stock: 1 });
  const release = await holdLocks(app.db, tx => tx.lock(lockOfPet(petId)));
  const write = t.mock.method(app.db, 'write');
  const batches = () => write.mock.calls.filter(call => call.arguments[1]?.alone);
  const connection = new RawConnection(origin);
  const body = JSON.stringify({
    operations: [{ method: 'PUT', path: `/store/inventory/${petId}`, body: { quantity: 9 } }],
  });
  connection.send(
    `POST /batch HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${adminKey}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  await until('it waits for the store', () => batches().length > 0);
  connection.socket.destroy();
  await until('its request is logged', () => logLines().some(({ status }) => status === null));
  await release();
  await batches()[0]!.result;
  assert.deepEqual(await stockOf(api, petId), ['available', 9]);
});

describe('an operation of a batch', () => {
  it('changes its resource only if that has the ETag in `ifMatch`', async () => {
    const petId = await aPet(shop.api, { name: 'Rex' });
    const { headers } = await shop.api.get(`/pets?id=${petId}`);
    const rename = (name: string, ifMatch: string) => ({
      method: 'PATCH',
      path: `/pets/${petId}`,
      body: { name },
      ifMatch,
    });
    const renames = [rename('Max', headers.etag!), rename('Rex', headers.etag!), rename('Rex', 'Rex')];
    const [first, second, third] = (await send(renames, { atomic: false })).body.results;
    assert.deepEqual([first.status, first.body.name], [200, 'Max']);
    assert.equal(second.error.code, 'precondition_failed');
    assert.match(second.error.message, new RegExp(`whose ETag is ${first.etag}`));
    assert.match(third.error.message, /^Header `If-Match` must be an ETag/);
    const atomic = await send([rename('Tom', headers.etag!)]);
    assert.equal(atomic.headers['x-failed-operation'], '0');
    assertRejected(atomic, 412, 'precondition_failed');
  });

  it('that fails after its first change leaves no part of it', async () => {
    const { api } = shop;
    const [stocked, empty] = [await aPet(api, { stock: 5 }), await aPet(api, { stock: 0 })];
    const orderId = await anOrder(api, { petId: stocked, quantity: 2 });
    const move = { method: 'PATCH', path: `/store/orders/${orderId}`, body: { petId: empty } };
    const restock = { method: 'PUT', path: `/store/inventory/${empty}`, body: { quantity: 1 } };
    const events = await eventsOf(shop, async () => {
      const { body } = await send([move, restock, move], { atomic: false });
      assert.deepEqual(valuesOf(body.results, 'status'), [409, 200, 409]);
    });
    assert.deepEqual(valuesOf(events, 'type', 'subject'), [
      ['inventory.updated', `store/inventory/${empty}`],
      ['pet.updated', `pets/${empty}`],
    ]);
    assert.deepEqual(await stockOf(api, stocked), ['available', 3]);
  });

  it('has the events of the request as their cause', async () => {
    const operations = ['Cats', 'Fish'].map(name => create('/categories', { name }));
    const events = await eventsOf(shop, () =>
      shop.api.post('/batch', { operations }, { 'x-request-id': 'import-7' }),
    );
    const causes = events.map(({ actor, requestid }) => `${actor} ${requestid}`);
    assert.deepEqual(causes, ['keys/1 import-7', 'keys/1 import-7']);
  });

  it('has an error that states which label has an ID in its message, and which operation failed', async () => {
    const operations = [
      create('/categories', { name: 'Dogs' }, 'dogs'),
      create('/pets', { name: 'Rex', categoryId: { $label: 'dogs' } }, 'rex'),
      create('/store/inventory/{rex}/adjustments', { delta: 2_147_483_647 }),
    ];
    const message = assertRejected(await send(operations), 409, 'stock_limit_exceeded');
    const { results } = (await send(operations, { atomic: false })).body;
    for (const text of [message, results[2].error.message]) {
      const [, petId] = /Pet (\d+) has/.exec(text) ?? [];
      assert.match(text, new RegExp(`lower the stock first \\(\`rex\` was ${petId}\\)$`));
    }

    const path = '/categories/{dogs}';
    const patch = { method: 'PATCH', path, body: {}, ifMatch: '"other"' };
    const [dogs] = operations;
    const taken = (await send([dogs!, patch], { atomic: false })).body.results;
    assert.equal(taken[0].error.code, 'category_name_taken');
    assert.match(taken[1].error.message, /^Operation 0, which has the label `dogs`, failed/);
    const malformed = { ...dogs!, body: {} };
    const [, twice, unused] = (await send([malformed, dogs!, patch], { atomic: false })).body.results;
    assert.match(twice.error.message, /^The label `dogs` belongs to operation 0/);
    assert.match(unused.error.message, /^Operation 0, which has the label `dogs`, failed/);
    const stale = await send([{ ...dogs!, body: { name: 'Wolves' } }, patch]);
    assert.doesNotMatch(assertRejected(stale, 412, 'precondition_failed'), / was \d/);
  });
});

it('a batch knows the locks of its operations in advance: of the resource in the path, and of the pet of an order', () => {
  const input = { params: { petId: 7, categoryId: 7, orderId: 7 }, body: { petId: 8 } };
  const writes = describedRoutes.filter(
    ({ method, path }) => method !== 'GET' && /^\/(pets|categories|store)\b/.test(path),
  );
  assert.ok(writes.length > 10);
  for (const { method, path, locks } of writes) {
    const [, kind] = /\{(\w+)Id\}/.exec(path) ?? [];
    const ordersPet = path.startsWith('/store/orders') && method !== 'DELETE';
    const expected = [...(kind ? [`${kind} 7`] : []), ...(ordersPet ? ['pet 8'] : [])];
    assert.deepEqual(locks?.(input as never) ?? [], expected, `${method} ${path}`);
  }
});

it('a batch of 1,000 operations has its results and events in the order of the operations', async () => {
  const categoryId = await aCategory(shop.api);
  const operations = Array.from({ length: 500 }, (_, i) => [
    create('/pets', { name: `Pet ${i}`, categoryId }, `pet-${i}`),
    { method: 'PUT', path: `/store/inventory/{pet-${i}}`, body: { quantity: i + 2 } },
  ]).flat();
  let results: { body: { id?: number; petId?: number; name?: string; quantity?: number } }[] = [];
  const events = await eventsOf(shop, async () => {
    const { status, body } = await send(operations);
    assert.equal(status, 200, JSON.stringify(body));
    results = body.results;
  });
  const ids = results.filter((_, i) => i % 2 === 0).map(({ body }) => body.id);
  assert.equal(new Set(ids).size, 500);
  for (const [i, { body }] of results.entries()) {
    const place = Math.floor(i / 2);
    if (i % 2 === 0) assert.equal(body.name, `Pet ${place}`);
    else assert.deepEqual([body.petId, body.quantity], [ids[place], place + 2]);
  }
  assert.deepEqual(
    valuesOf(events, 'subject'),
    ids.flatMap(id => [`pets/${id}`, `store/inventory/${id}`]),
  );
});
