import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiResponse } from '../support/client.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { shopState } from '../support/shop-state.ts';
import { useShop } from '../support/use-shop.ts';
import { KIBIBYTE, type Sent } from './rejected-request.ts';
import { rejections } from './rejected-requests.ts';

/** A shop in which category 1, pet 1 and order 1 exist. */
const shop = useShop({}, async ({ api }) => {
  await anOrder(api, { petId: await aPet(api, { stock: 9, categoryId: await aCategory(api) }) });
});

function send({ method = 'POST', path = '/categories', body, headers }: Sent): Promise<ApiResponse> {
  const isWrite = method !== 'GET' && method !== 'DELETE';
  return shop.api.send(method, path, { body: body ?? (isWrite ? { name: 'Dogs' } : undefined), headers });
}

describe('a request is rejected, and nothing is done, for', () => {
  for (const [outcome, causes] of Object.entries(rejections)) {
    const [status, code] = outcome.split(' ') as [string, string];
    for (const [what, message, sent] of causes)
      it(what, async () => {
        const before = await shopState(shop.api);
        for (const request of sent) {
          const shown = JSON.stringify(request).slice(0, 200);
          assert.match(assertRejected(await send(request), Number(status), code), message, shown);
        }
        assert.deepEqual(await shopState(shop.api), before);
      });
  }

  it('a missing body, whether headers announced a body or not', async () => {
    for (const headers of [{}, { 'content-type': 'application/json' }, { 'content-length': '0' }]) {
      const response = await shop.api.send('POST', '/categories', {
        headers: headers as Record<string, string>,
      });
      assertInvalid(response, 'The request needs a JSON object as its body');
    }
    // With neither Content-Length nor Transfer-Encoding a request has no body (RFC 9112 §6.3).
    const bare = (method: string, path: string, type = 'application/json') =>
      exchangeBytes(
        shop.origin,
        `${method} ${path} HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${shop.adminKey}\r\nContent-Type: ${type}\r\n\r\n`,
      );
    for (const [method, path] of Object.entries({ PUT: '/pets/1', PATCH: '/store/orders/1' }))
      assertInvalid(await bare(method, path), /needs a JSON object/);
    assertRejected(await bare('DELETE', '/pets/99'), 404, 'pet_not_found');
    assert.equal((await bare('GET', '/pets')).status, 200);
    assertRejected(await bare('POST', '/categories', 'text/plain'), 415, 'unsupported_media_type');
  });

  it('an unsupported media type, with Accept-Patch for PATCH only', async () => {
    for (const type of ['text/plain', 'application/json-patch+json', 'application/json; charset=utf-16'])
      for (const method of ['PATCH', 'POST', 'PUT']) {
        const path = method === 'POST' ? '/categories' : '/categories/1';
        const response = await send({ method, path, body: '[]', headers: { 'content-type': type } });
        const expected = method === 'PATCH' ? 'application/merge-patch+json, application/json' : undefined;
        assert.deepEqual([response.status, response.headers['accept-patch']], [415, expected], method);
      }
  });

  it('a path, with the path that was meant', async () => {
    for (const [path, meant] of [
      ['/orders', '/store/orders'],
      ['/orders?limit=1', '/store/orders'],
      ['/inventory/1', '/store/inventory/1'],
      ['/v1/pets', '/pets'],
      ['/api/v1/store/orders', '/store/orders'],
      ['/v2/pet/1', '/pets/1'],
      ['/Pets', '/pets'],
      ['/category', '/categories'],
      ['/order/7', '/store/orders/7'],
      ['/store/order/7', '/store/orders/7'],
      ['/key/1/usage', '/keys/1/usage'],
      ['/pets/', '/pets'],
    ]) {
      const message = assertRejected(await shop.api.get(path!), 404, 'route_not_found');
      assert.equal(message, `There is nothing at ${path!.split('?')[0]}; did you mean ${meant}?`);
    }
    const doubled = await exchangeBytes(
      shop.origin,
      `GET //pets HTTP/1.1\r\nHost: x\r\nX-API-Key: ${shop.adminKey}\r\nConnection: close\r\n\r\n`,
    );
    assert.equal(
      assertRejected(doubled, 404, 'route_not_found'),
      'There is nothing at //pets; did you mean /pets? Remove a slash after the base URL',
    );
  });

  it('a missing key, with what the request has instead', async () => {
    const bearer = 'Write `Authorization: Bearer <key>`, or send the API key in the header X-API-Key';
    const ignored = (name: string) =>
      `The header ${name} is ignored: send the API key in the header X-API-Key`;
    for (const [path, headers, message] of [
      ['/pets', { authorization: shop.adminKey }, bearer],
      ['/pets', { authorization: 'Basic cGV0OnN0b3Jl' }, bearer],
      ['/pets', { 'Api-Key': shop.adminKey }, ignored('api-key')],
      ['/pets', { 'X-Auth-Token': shop.adminKey }, ignored('x-auth-token')],
      ['/pets', { 'X-Api-K.': shop.adminKey }, ignored('x-api-k.')],
      [
        `/pets?api_key=${shop.adminKey}`,
        {},
        'The API key in the URL is ignored, and has leaked into logs: rotate it, and send the new one in the header X-API-Key',
      ],
      ['/pets', {}, 'Send an API key in the header X-API-Key, or as Authorization: Bearer <key>'],
    ] as const) {
      const response = await shop.api.as().get(path, headers);
      assertRejected(response, 401, 'missing_api_key', message);
    }
  });

  it('names that other services use, with the name or the header of this one', async () => {
    for (const [query, message] of [
      ['per_page=5', 'Unknown query parameter `per_page`; did you mean `limit`?'],
      ['pageSize=5', 'Unknown query parameter `pageSize`; did you mean `limit`?'],
      ['search=Rex', 'Unknown query parameter `search`; did you mean `q`?'],
      ['order_by=name', 'Unknown query parameter `order_by`; did you mean `sort`?'],
      ['starting_after=2', 'Unknown query parameter `starting_after`; did you mean `cursor`?'],
      ['page=2', 'Unknown query parameter `page`: the header `Link` has the URL of the next page'],
      ['offset=2', 'Unknown query parameter `offset`: the header `Link` has the URL of the next page'],
    ] as const)
      assertInvalid(await shop.api.get(`/pets?${query}`), message);
    for (const [type, meant] of [
      ['order.created', 'order.placed'],
      ['order.deleted', 'order.cancelled'],
      ['key.deleted', 'key.revoked'],
    ])
      assertInvalid(
        await shop.api.get(`/events?type=${type}`),
        `There is no event type \`${type}\`; did you mean \`${meant}\`?`,
      );
  });

  it('a body of another type, a list of bodies, a body that is encoded twice and a day that does not exist, with the remedy', async () => {
    const remedy = "send the header 'Content-Type: application/json'";
    for (const [type, message] of Object.entries({
      'application/x-www-form-urlencoded':
        "it was application/x-www-form-urlencoded: add -H 'Content-Type: application/json' to curl",
      'text/plain;charset=UTF-8': `it was text/plain: ${remedy}`,
      'multipart/form-data; boundary=x': `it was multipart/form-data: ${remedy}`,
      'application/xml': `it was application/xml: ${remedy}`,
      json: `it was "json": ${remedy}`,
      '': `it has no type: ${remedy}`,
    })) {
      const headers = { 'content-type': type || undefined };
      const sent = await shop.api.send('POST', '/pets', { body: 'name=Rex', headers });
      assertRejected(sent, 415, 'unsupported_media_type', `Send the body as application/json; ${message}`);
    }
    const form = { body: 'name=Rex', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
    assertRejected(await shop.api.send('POST', '/dogs', form), 404, 'route_not_found');
    const list = await shop.api.post('/pets', [{ name: 'Rex', categoryId: 1 }]);
    assertInvalid(list, /: send one object, or several operations with POST \/batch$/);
    const twice = await shop.api.send('POST', '/pets', {
      body: JSON.stringify(JSON.stringify({ name: 'Rex', categoryId: 1 })),
      headers: { 'content-type': 'application/json' },
    });
    assertInvalid(twice, /: it is a JSON text inside of a JSON text, so encode it once$/);
    for (const [shipDate, end] of [
      ['2026-02-30T00:00:00Z', /, but was "2026-02-30T00:00:00Z": this day does not exist$/],
      ['2028-02-29', /, but was "2028-02-29"$/],
    ] as const) {
      const rejected = await shop.api.post('/store/orders', { shipDate });
      assertInvalid(rejected, end);
      const listed = await shop.api.get(`/store/orders?shipDateFrom=${shipDate}`);
      assertInvalid(listed, end);
    }
  });

  it('unknown fields and parameters, with the closest known one or a list without read-only fields', async () => {
    const known = 'known are `name`, `categoryId`, `status`';
    for (const [fields, message] of [
      [{ xx: 1, yy: 2, zz: 3 }, `Unknown fields \`xx\`, \`yy\`, \`zz\`; ${known}`],
      [
        { xx: 1, statsu: 2, zz: 3 },
        `Unknown field \`statsu\`; did you mean \`status\`?; unknown fields \`xx\`, \`zz\`; ${known}`,
      ],
      [{ ids: 1 }, `Unknown field \`ids\`; ${known}`],
    ] as const) {
      const response = await shop.api.post('/pets', { name: 'Rex', categoryId: 1, ...fields });
      assertInvalid(response, message);
    }
    for (const list of ['/pets', '/categories', '/store/orders', '/store/inventory', '/keys']) {
      for (const [misspelled, meant] of Object.entries({ limt: 'limit', curser: 'cursor', Sort: 'sort' })) {
        const message = assertInvalid(await shop.api.get(`${list}?${misspelled}=1`));
        assert.equal(message, `Unknown query parameter \`${misspelled}\`; did you mean \`${meant}\`?`);
      }
      const message = assertInvalid(await shop.api.get(`${list}?zebra=1&limit=2`));
      assert.match(message, /^Unknown query parameter `zebra`; known are `/);
    }
  });

  it('a weak ETag in If-Match, with the reason', async () => {
    const { etag } = (await shop.api.get('/pets/1')).headers;
    const messageFor = async (ifMatch: string) =>
      assertRejected(
        await shop.api.patch('/pets/1', { name: 'Rex' }, { 'if-match': ifMatch }),
        412,
        'precondition_failed',
      );
    assert.equal(
      await messageFor(`W/${etag}`),
      `If-Match W/${etag} is a weak ETag, which never matches: send it without W/, as ${etag}`,
    );
    assert.match(
      await messageFor('W/"other"'),
      /with the ETag without W\/, because a weak ETag never matches$/,
    );
    assert.match(await messageFor('"other"'), /: read it again and retry$/);
  });
});

describe('a request is accepted with', () => {
  it('bodies, headers and targets at their limits, and in every form', async () => {
    let names = 0;
    const created = async (headers: Record<string, string>, text = '{"name":"NAME"}') => {
      const body = text.replace('NAME', `Accepted ${++names}`).replace('Dogs', `Accepted ${names}`);
      const response = await shop.api.post('/categories', body, headers);
      assert.deepEqual([response.status, response.body.name], [201, `Accepted ${names}`], response.text);
    };
    for (const type of [
      'APPLICATION/JSON',
      'application/json;charset="UTF-8"',
      'application/json; profile=x',
    ])
      await created({ 'content-type': type });
    for (const encoding of ['identity', 'Identity']) await created({ 'content-encoding': encoding });
    await created({}, '\ufeff{"name":"NAME"}');
    await created({}, '{"name":"NAME"}'.padEnd(64 * KIBIBYTE - 6));
    for (const accept of ['application/json', '*/*', 'text/html, */*;q=0.1', 'application/*'])
      await created({ accept });
    const types = 'application/vnd.api+json';
    for (const accept of [types, `*/*;q=0, ${types}`, `${types};q=0, */*`]) await created({ accept });
    for (const path of ['/healthz', '/readyz', '/openapi.yaml', '/openapi.json'])
      assert.equal((await shop.api.get(path, { accept: 'text/html' })).status, 200, path);
    assert.equal((await shop.api.get('/pets', { 'x-filler': 'x'.repeat(15 * KIBIBYTE) })).status, 200);
    for (const path of ['/pets?name=', '/pets/', '/nowhere/'])
      assert.notEqual((await shop.api.get(path.padEnd(8 * KIBIBYTE, 'x'))).status, 414);
    assert.equal((await shop.api.get('/categories/1', { 'if-none-match': 'garbage' })).status, 200);
    const { status } = await shop.api.get('/store/orders?shipDateFrom=2026-12-01T00:00:00%2B01:00');
    assert.equal(status, 200);
  });

  it('every percent-encoding of UTF-8, and + for a space', async () => {
    for (const [i, name] of ['Mäuse & Co', '100 %', '猫', '🐶=🐱', 'a+b'].entries()) {
      const categoryId = await aCategory(shop.api, { name });
      const encoded = i % 2 ? encodeURIComponent(name) : new URLSearchParams({ name }).toString().slice(5);
      assert.deepEqual((await shop.api.get(`/categories?name=${encoded}`)).body, [{ id: categoryId, name }]);
    }
  });
});
