import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY, HOUR } from '../../src/kit/clock.ts';
import { document } from '../contract/document.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { settledCursor } from '../support/event-log.ts';
import { aCategory, anOrder, aPet, stockOf } from '../support/factories.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { useShop } from '../support/use-shop.ts';

const shop = useShop();

let sequence = 0;

/** An Idempotency-Key that no other case uses. */
const aKey = () => `order-${++sequence}`;

function post(path: string, body: unknown, key: string, api: Client = shop.api): Promise<ApiResponse> {
  return api.post(path, body, { 'idempotency-key': key });
}

const order = (body: unknown, key: string, api?: Client) => post('/store/orders', body, key, api);

function isReplay({ headers }: ApiResponse): boolean {
  return headers['idempotency-replayed'] !== undefined;
}

/** Returns a new pet, and a request for each POST of the contract. */
async function someRequests(): Promise<{ petId: number; requests: Record<string, object> }> {
  const categoryId = await aCategory(shop.api);
  const petId = await aPet(shop.api, { categoryId, stock: 2 });
  const operations = [
    { method: 'POST', path: '/pets', body: { name: ' Tom ', categoryId }, label: 'tom' },
    { method: 'POST', path: '/store/inventory/{tom}/adjustments', body: { delta: 4 } },
  ];
  const requests = {
    '/pets': { name: 'Biscuit', categoryId },
    '/categories': { name: `Dogs ${petId}` },
    '/store/orders': { petId },
    '/store/inventory/{petId}/adjustments': { delta: 5 },
    '/keys': { name: 'Web shop', plan: 'free', scopes: ['pets:read'] },
    '/keys/{keyId}/rotate': {},
    // An IP address instead of a host name, so that no name is looked up.
    '/webhooks': { url: 'https://93.184.215.14/', enabled: false },
    '/batch': { operations },
    '/account/plan-requests': { plan: 'business' },
    '/plan-requests/{requestId}/approve': {},
    '/plan-requests/{requestId}/decline': { message: 'Not now' },
  };
  return { petId, requests };
}

describe('Idempotency-Key', () => {
  it('makes every POST repeatable: its outcome is stored once, and it is done once', async t => {
    const { api, app, clientWith } = shop;
    const { petId, requests } = await someRequests();
    // Actions on a webhook need an endpoint: see events/webhooks-replay.test.ts. A report of leaked keys needs no key, and ends each once.
    const others = /^\/(webhooks\/|keys\/revoke-leaked$)/;
    const templates = Object.keys(document.paths).filter(
      path => document.paths[path]!.post && !others.test(path),
    );
    assert.deepEqual(Object.keys(requests).sort(), templates.sort());
    const { keyId } = await clientWith({});
    const requested = async () => {
      const client = await clientWith({ plan: 'free', scopes: ['pets:read'] });
      return (await client.post('/account/plan-requests', { plan: 'pro' })).body.id as number;
    };

    const stored: unknown[] = [];
    const write = app.db.write.bind(app.db);
    t.mock.method(
      app.db,
      'write',
      (work: Parameters<typeof write>[0], options: Parameters<typeof write>[1]) =>
        write(tx => {
          const { run } = tx;
          tx.run = (sql, values) => {
            if (sql.startsWith('INSERT INTO idempotency_keys')) stored.push(values?.[1]);
            return run.call(tx, sql, values);
          };
          return work(tx).finally(() => {
            tx.run = run;
          });
        }, options),
    );
    for (const [template, body] of Object.entries(requests)) {
      const requestId = template.includes('{requestId}') ? await requested() : 0;
      const path = template
        .replace('{petId}', String(petId))
        .replace('{keyId}', String(keyId))
        .replace('{requestId}', String(requestId));
      const before = await settledCursor(shop);
      const first = await post(path, body, template);
      const isCreated = first.headers.location !== undefined;
      assert.deepEqual([first.status, isReplay(first)], [isCreated ? 201 : 200, false], first.text);
      const after = await settledCursor(shop);
      assert.ok(after !== before || template === '/webhooks', `${path} changed nothing`);
      for (let again = 0; again < 2; again++) {
        const replay = await post(path, body, template);
        assert.deepEqual([replay.status, replay.headers['idempotency-replayed']], [first.status, 'true']);
        assert.equal(replay.headers.location, first.headers.location);
        // The secret of an API key or a webhook is shown once, in the first response.
        const { key, secret, ...repeated } = first.body;
        assert.equal(replay.text, JSON.stringify(repeated));
        if (!key) assert.equal(replay.headers.etag, first.headers.etag);
        else assert.equal((await api.as(key).get('/account')).status, 200);
      }
      assert.equal(await settledCursor(shop), after, `${path} was repeated`);
    }
    assert.equal((await api.get('/webhooks')).body.length, 1);
    assert.deepEqual(stored, Object.keys(requests));
  });

  it('is locked before its outcome is read, because another replica may be storing that', async t => {
    const { db } = shop.app;
    const calls: string[] = [];
    const observed = new Set<object>();
    const write = db.write.bind(db);
    t.mock.method(db, 'write', (work: Parameters<typeof write>[0], options: Parameters<typeof write>[1]) =>
      write(tx => {
        // The transactions of the embedded store, also that of a sweep, are one object.
        for (const name of observed.has(tx) ? [] : (['tryLock', 'get'] as const)) {
          const call = tx[name].bind(tx) as (text: string, ...values: unknown[]) => Promise<unknown>;
          t.mock.method(tx, name, (text: string, ...values: unknown[]) => {
            if (/idempotency.key/.test(text)) calls.push(name);
            return call(text, ...values);
          });
        }
        observed.add(tx);
        return work(tx);
      }, options),
    );
    assert.equal((await post('/store/orders', {}, aKey())).status, 201);
    assert.deepEqual(calls, ['tryLock', 'get']);
  });

  it('replays the first response, whatever has changed since', async () => {
    const { api } = shop;
    const [petId, key] = [await aPet(api, { stock: 2 }), aKey()];
    const first = await order({ petId }, key);
    assert.equal((await api.delete(first.headers.location!)).status, 204);

    const replay = await order({ petId }, key);
    assert.deepEqual([replay.status, replay.text, isReplay(replay)], [201, first.text, true]);
    assert.deepEqual(await stockOf(api, petId), ['available', 2]);
  });

  it('belongs to one API key: the same text of another client is another key', async () => {
    const key = aKey();
    const clients = [await shop.clientWith({}), await shop.clientWith({})];
    const placed = [];
    for (const client of clients) placed.push(await order({}, key, client));
    assert.deepEqual(placed.map(isReplay), [false, false]);
    assert.notEqual(placed[0]!.body.id, placed[1]!.body.id);
    for (const [i, client] of clients.entries())
      assert.equal((await order({}, key, client)).text, placed[i]!.text);
  });

  it('has 1 to 255 printable ASCII characters, with or without quotation marks', async () => {
    const raw = await order({}, 'a key: 7f, "x"');
    const quoted = await order({}, '"a key: 7f, "x""');
    assert.deepEqual([quoted.text, isReplay(quoted)], [raw.text, true]);
    for (const key of ['"A key: 7f, "x""', '~'.repeat(255), `"${'!'.repeat(255)}"`]) {
      const { status, headers } = await order({}, key);
      assert.deepEqual([status, headers['idempotency-replayed']], [201, undefined]);
    }
  });

  it('is rejected with a different request, and still replays the first one', async () => {
    const { petId, requests } = await someRequests();
    const key = aKey();
    const first = await order({ petId }, key);
    for (const body of [{ petId, quantity: 2 }, { petId, complete: true }, {}])
      assertRejected(await order(body, key), 422, 'idempotency_key_reused');
    for (const path of ['/pets', '/categories', '/keys', '/batch'])
      assertRejected(await post(path, requests[path], key), 422, 'idempotency_key_reused');
    assert.equal((await order({ petId }, key)).text, first.text);
    assert.deepEqual(await stockOf(shop.api, petId), ['available', 1]);

    const [one, other] = [(await shop.clientWith({})).keyId, (await shop.clientWith({})).keyId];
    const rotation = aKey();
    assert.equal((await post(`/keys/${one}/rotate`, {}, rotation)).status, 200);
    assertRejected(await post(`/keys/${other}/rotate`, {}, rotation), 422, 'idempotency_key_reused');
  });

  it('compares requests by value: the order of fields and white space do not matter, that of items does', async () => {
    const petId = await aPet(shop.api, { stock: 4 });
    const [key, ofBatch] = [aKey(), aKey()];
    const first = await post('/store/orders', `{"petId":${petId},"quantity":1}`, key);
    for (const body of [`{"quantity":1,"petId":${petId}}`, ` { "quantity" : 1.0,\n"petId": ${petId} }`]) {
      const again = await post('/store/orders', body, key);
      assert.deepEqual([again.status, again.text, isReplay(again)], [201, first.text, true], body);
    }
    const [one, other] = [1, 2].map(
      quantity => `{"method":"POST","path":"/store/orders","body":{"petId":${petId},"quantity":${quantity}}}`,
    );
    const reordered = `{"body":{"quantity":1,"petId":${petId}},"path":"/store/orders","method":"POST"}`;
    const batch = await post('/batch', `{"operations":[${one},${other}]}`, ofBatch);
    assert.equal(batch.status, 200, batch.text);
    const replay = await post('/batch', `{"atomic":true,"operations":[${reordered},${other}]}`, ofBatch);
    assert.deepEqual([replay.text, isReplay(replay)], [batch.text, true]);
    const swapped = await post('/batch', `{"operations":[${other},${one}]}`, ofBatch);
    assertRejected(swapped, 422, 'idempotency_key_reused');
    assert.deepEqual(await stockOf(shop.api, petId), ['pending', 0]);
  });

  it('does not store a rejection: the same key can succeed later, even with another body', async () => {
    const { api } = shop;
    const petId = await aPet(api, { stock: 2 });
    const body = { petId, quantity: 3 };
    const batch = { operations: [{ method: 'POST', path: '/store/orders', body }] };
    const [key, ofBatch] = [aKey(), aKey()];
    assertRejected(await order(body, key), 409, 'insufficient_stock');
    assertInvalid(await order({ quantity: 0 }, key));
    assertRejected(await order(body, key, api.as()), 401, 'missing_api_key');
    assertRejected(await post('/batch', batch, ofBatch), 409, 'insufficient_stock');
    await api.put(`/store/inventory/${petId}`, { quantity: 6 });

    const placed = await order(body, key);
    assert.deepEqual([placed.status, isReplay(placed)], [201, false]);
    assert.equal(isReplay(await order(body, key)), true);
    assert.equal(isReplay(await post('/batch', batch, ofBatch)), false);
    assert.deepEqual(await stockOf(api, petId), ['pending', 0]);

    const [each, ofEach] = [{ ...batch, atomic: false }, aKey()];
    const failed = await post('/batch', each, ofEach);
    assert.equal(failed.body.results[0].error.code, 'pet_not_available');
    await api.put(`/store/inventory/${petId}`, { quantity: 9 });
    assert.deepEqual((await post('/batch', each, ofEach)).body, failed.body, 'its results are an outcome');
  });

  it('covers the labels of a batch: another label is another request', async () => {
    const [a, b] = ['a', 'b'].map(label => ({
      operations: [
        { method: 'POST', path: '/categories', body: { name: 'Cats' }, label: 'a' },
        { method: 'POST', path: '/categories', body: { name: 'Hounds' }, label: 'b' },
        { method: 'POST', path: '/pets', body: { name: 'Tom', categoryId: { $label: label } } },
      ],
    }));
    const key = aKey();
    assert.equal((await post('/batch', a, key)).status, 200);
    assertRejected(await post('/batch', b, key), 422, 'idempotency_key_reused');
    assert.equal(isReplay(await post('/batch', a, key)), true);
  });

  it('expires after 24 hours', async () => {
    const { clock } = shop;
    const key = aKey();
    const first = await order({}, key);
    clock.advance(DAY);
    assert.equal(isReplay(await order({}, key)), true, 'a replay does not prolong it');
    clock.advance(1);
    const second = await order({ quantity: 5 }, key);
    assert.equal(isReplay(second), false);
    assert.notEqual(second.body.id, first.body.id);

    clock.advance(DAY);
    const replay = await order({ quantity: 5 }, key);
    assert.deepEqual([replay.text, isReplay(replay)], [second.text, true]);
    assert.equal(replay.headers.location, second.headers.location);
  });

  it('replays an outcome also after the clock was set back', async () => {
    const { clock } = shop;
    const key = aKey();
    const first = await order({}, key);
    clock.advance(-HOUR);
    const replay = await order({}, key);
    clock.advance(HOUR);
    assert.deepEqual([replay.text, isReplay(replay)], [first.text, true]);
  });

  it('has no effect on requests that are repeatable anyway', async () => {
    const { api } = shop;
    const path = `/store/orders/${await anOrder(api, {})}`;
    const headers = { 'idempotency-key': aKey() };
    for (const quantity of [2, 3]) {
      const changed = await api.patch(path, { quantity }, headers);
      assert.deepEqual([changed.body.quantity, isReplay(changed)], [quantity, false]);
    }
    assert.equal((await api.delete(path, headers)).status, 204);
  });
});
