import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiResponse } from '../support/client.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { assertRejected } from '../support/rejection.ts';
import { shopState } from '../support/shop-state.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';

const KIBIBYTE = 1024;

/** A shop in which category 1, pet 1 and order 1 exist. */
const shop = useShop({}, async ({ api }) => {
  await anOrder(api, { petId: await aPet(api, { stock: 9, categoryId: await aCategory(api) }) });
});

interface Sent {
  method?: string;
  path?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

const get = (...paths: string[]): Sent[] => paths.map(path => ({ method: 'GET', path }));
const withHeaders = (name: string, values: readonly string[], other: Sent = {}): Sent[] =>
  values.map(value => ({ ...other, headers: { ...other.headers, [name]: value } }));
const bodies = (...all: (string | Buffer | object)[]): Sent[] => all.map(body => ({ body }));
const writes = (method: string, path: string, ...all: object[]): Sent[] =>
  all.map(body => ({ method, path, body }));

/** Without other members, a request creates a category. */
function send({ method = 'POST', path = '/categories', body, headers }: Sent): Promise<ApiResponse> {
  const isWrite = method !== 'GET' && method !== 'DELETE';
  return shop.api.send(method, path, { body: body ?? (isWrite ? { name: 'Dogs' } : undefined), headers });
}

const JSON_TYPE = 'content-type';
const patch = { method: 'PATCH', path: '/categories/1' };
const ofSize = (bytes: number) => '{"name":"Dogs"}'.padEnd(bytes);
const nested = (open: string, close: string, inner = '') =>
  `${open.repeat(10_000)}${inner}${close.repeat(10_000)}`;
const notUtf8 = ['ff', 'c080', 'eda080', 'f4908080', 'e282'].map(bytes =>
  Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes, 'hex'), Buffer.from('"}')]),
);

/** The outcome, and for each cause the message, which states the problem, and requests. Nothing is done. */
const rejections: Record<string, [what: string, message: RegExp, sent: Sent[]][]> = {
  '400 invalid_request': [
    // Bodies
    [
      'a body that is not JSON',
      /^The body is not valid JSON: /,
      bodies('{"name":', '{"name":"a",}', "{'name':'a'}", 'name=a', '<name>a</name>', '[]]', '\0'),
    ],
    ['a body of a byte order mark', /^The request needs a JSON object as its body$/, bodies('\ufeff')],
    [
      'JSON that is not an object',
      /^The body must be a JSON object, but was (\[\]|\[\{"name":"a"\}\]: send one object, or .*|null|"a"|1|true)$/,
      ['[]', '[{"name":"a"}]', 'null', '"a"', '1', 'true'].flatMap(body => [
        { body },
        { method: 'PUT', path: '/pets/1', body },
        { method: 'PATCH', path: '/store/orders/1', body },
      ]),
    ],
    ['bytes that are not UTF-8', /^The body is not valid UTF-8$/, bodies(...notUtf8)],
    ['UTF-16', /./, bodies(Buffer.from('{"name":"Dogs"}', 'utf16le'), Buffer.from('\ufeff{}', 'utf16le'))],
    [
      'half a surrogate pair',
      /^Field `name` contains half of a surrogate pair/,
      bodies('{"name":"\\ud800"}'),
    ],
    ['a field twice', /^Field `name` appears twice$/, bodies('{"name":"Dogs","name":"Cats"}')],
    [
      'too many levels',
      /nests deeper than 32 levels$/,
      bodies(`{"name":${nested('[', ']')}}`, nested('{"a":', '}', '1')),
    ],
    [
      'a name of the prototype',
      /^Unknown field `(__proto__|constructor|prototype|toString)`/,
      ['__proto__', 'constructor', 'prototype', 'toString'].flatMap(name =>
        bodies(`{"name":"Dogs","${name}":{"prototype":{"name":"Cats"}}}`, `{"name":"Dogs","${name}":null}`),
      ),
    ],
    [
      'a JSON Patch',
      /: JSON Patch is not supported; send an object with the fields to change \(RFC 7396\)$/,
      withHeaders(JSON_TYPE, ['application/merge-patch+json'], {
        ...patch,
        body: [{ op: 'replace', path: '/name', value: 'Rex' }],
      }),
    ],
    // Fields
    ['an empty name', /^Field `name` must not be empty, but was ""$/, bodies({ name: '' })],
    [
      'a blank name',
      /^Field `name` must not be blank, but was "/,
      bodies({ name: ' \u00a0\t' }, { name: '  ' }),
    ],
    ['a long name', /^Field `name` must have at most 200 characters/, bodies({ name: 'a'.repeat(201) })],
    [
      'control characters',
      /^Field `(name|description)` must not contain control characters, but was "/,
      [
        ...bodies({ name: 'a\0b' }, { name: 'a\nb' }, { name: 'a\u0085b' }),
        ...writes('PATCH', '/categories/1', { description: 'a\0b' }, { name: '\u007f' }),
      ],
    ],
    [
      'a long description',
      /^Field `description` must have at most 2000/,
      writes('PATCH', '/categories/1', { description: 'a'.repeat(2001) }),
    ],
    [
      'another ID than that of the path',
      /^Field `id` must equal the ID in the path, (1|9007199254740993), but was 2$/,
      [
        ...writes('PATCH', '/categories/1', { id: 2 }),
        ...writes('PUT', '/pets/1', { id: 2, name: 'Rex', categoryId: 1 }),
        ...writes('PATCH', '/pets/9007199254740993', { id: 2 }),
      ],
    ],
    [
      'a value that is not listed',
      /^Field `status` must be one of `available`, `pending`, `sold`, but was "Sold"$/,
      writes('PATCH', '/pets/1', { status: 'Sold' }),
    ],
    [
      'a number out of range',
      /^Field `quantity` must be at (least [01], but was (0|-1)|most 2147483647, but was 2147483648)$/,
      [
        ...writes('POST', '/store/orders', { quantity: 0 }, { quantity: -1 }, { quantity: 2 ** 31 }),
        ...writes('PUT', '/store/inventory/1', { quantity: -1 }, { quantity: 2 ** 31 }),
      ],
    ],
    [
      'a text that is not a date-time',
      /^Field `shipDate` must be a date-time with offset .*, but was "2026-/,
      writes(
        'POST',
        '/store/orders',
        ...['2026-12-01', '2026-02-30T00:00:00Z', '2026-12-01T00:00:00'].map(shipDate => ({ shipDate })),
      ),
    ],
    [
      'a field that the operation does not set, with the remedy',
      /^Field `(\w+)` cannot be set here: (it follows from the stock, and PATCH \/pets\/\{petId\} changes it|leave it out|PUT \/store\/inventory\/\{petId\} sets the stock|DELETE \/keys\/\{keyId\}\/ban lifts a ban)$/,
      [
        ...writes('PATCH', '/store/inventory/1', { quantity: 1, status: 'sold' }),
        ...writes('PUT', '/store/inventory/1', { quantity: 1, petId: 1 }),
        ...writes('PATCH', '/pets/1', { quantity: 1 }),
        ...writes('PATCH', '/keys/1', { ban: null }, { createdAt: null }),
      ],
    ],
    // Queries
    [
      'a limit out of range',
      /`limit` must be at (least 1|most 1000), but was/,
      get(...['0', '1001', '-1'].map(limit => `/pets?limit=${limit}`)),
    ],
    [
      'a limit that is not a number',
      /^Query parameter `limit` must be an integer \(int64\), but was "(ten|9223372036854775808)?"$/,
      get('/pets?limit=ten', '/pets?limit=', '/pets?limit', '/pets?limit=9223372036854775808'),
    ],
    [
      'a parameter twice that takes one value',
      /^Query parameter `\w+` must be given once, but was given 2 times$/,
      get(
        '/pets?limit=1&limit=1',
        '/pets?categoryId=1&categoryId=1',
        '/pets?name=a&name=b',
        '/pets?sort=id&sort=id',
      ),
    ],
    [
      'a comma without a value',
      /^Query parameter `id` must be an integer \(int64\), but was ""$/,
      get('/pets?id=1,', '/pets?id=,1', '/pets?id=1,,2'),
    ],
    [
      'commas in a parameter that takes one value',
      /^Query parameter `categoryId` must be an integer \(int64\), but was "1,2"$/,
      get('/pets?categoryId=1,2'),
    ],
    [
      'brackets',
      /^Unknown query parameter "id\[\]"; did you mean `id`\?; unknown query parameter "id\[1\]"; did you mean `id`\?$/,
      get('/pets?id[]=1&id[1]=2'),
    ],
    [
      'an offset with +',
      /, but was "2026-12-01T00:00:00 01:00": in a URL, write \+ as %2B$/,
      get('/store/orders?shipDateFrom=2026-12-01T00:00:00+01:00'),
    ],
    [
      'other rules of parameters',
      /^Query parameter `(\w+)` must (be one of `|not be (empty|blank), but|not contain control characters, but was "a\\u0000b"|have at most (200|4096) characters|have at most 100 items|be taken unchanged from the Link header|be `true` or `false`, but was "1"|be a date-time with offset|be at (least 0|most 2147483647), but was)/,
      get(
        ...[
          'status=gone',
          'sort=nam',
          'name=',
          'name=%20',
          'name=a%00b',
          `name=${'a'.repeat(201)}`,
          'cursor=',
          'cursor=abc',
        ].map(query => `/pets?${query}`),
        `/pets?${'id=1&'.repeat(101)}`,
        `/pets?cursor=${'a'.repeat(4097)}`,
        ...['complete=1', 'shipDateFrom=2026-12-01'].map(query => `/store/orders?${query}`),
        ...['quantityBelow=-1', 'quantityBelow=2147483648'].map(query => `/store/inventory?${query}`),
      ),
    ],
    [
      'a number too large, quoted as sent',
      /but was ("?(9007199254740993|9223372036854775807|9223372036854775808)"?$|\[9007199254740993,9007199254740993,)/,
      get(
        ...['9007199254740993', '9223372036854775807', '9223372036854775808'].map(n => `/pets?limit=${n}`),
        `/pets?${'id=9007199254740993&'.repeat(101)}`,
      ),
    ],
    [
      'a broken percent-encoding of a parameter',
      /^Query parameter (`name`|".*") must be percent-encoded UTF-8, but was "|^(Unknown query|The query)/,
      ['%ZZ', '%', '%4', '%ff', '%C0%80', '%ED%A0%80', 'a%E2%82'].flatMap(value =>
        get(`/pets?limit=1&name=${value}`, `/pets?${value}=1`),
      ),
    ],
    [
      'a broken percent-encoding of a path',
      /^The path must be percent-encoded UTF-8, but was "\/(pets|nowhere)\/%/,
      ['%ZZ', '%', '%4', '%ff', '%C0%80', '%ED%A0%80'].flatMap(part =>
        get(`/pets/${part}?x=1`, `/nowhere/${part}?x=1`),
      ),
    ],
    [
      'a parameter that no operation has, also one that is named like a property of every object',
      /^Unknown query parameter `(__proto__|constructor|hasOwnProperty|verbose)`/,
      ['__proto__', 'constructor', 'hasOwnProperty', 'verbose'].flatMap(name =>
        get(`/pets?${name}=1`, `/pets/1?${name}=1`, `/healthz?${name}=1`, `/openapi.json?${name}=1`),
      ),
    ],
    [
      'a parameter where none is allowed',
      /^Unknown query parameter `dryRun`; none is allowed here$/,
      [{ path: '/categories?dryRun=true' }],
    ],
    // Headers
    [
      'an Idempotency-Key that is empty, too long or not printable ASCII',
      /^Idempotency-Key must have 1 to 255 printable ASCII characters/,
      withHeaders('idempotency-key', [
        '',
        '""',
        'a'.repeat(256),
        `"${'a'.repeat(256)}"`,
        'clé',
        'a\tb',
        '"\u00ff"',
      ]),
    ],
    [
      'an If-Match that is not a list of ETags',
      /^Header `If-Match` must be an ETag in double quotes, such as "[\da-f]{16}", but was /,
      withHeaders('if-match', ['garbage', '"', ',', '* *', '*, "a"', '"a" "b"', '"a", abc', 'w/"a"'], patch),
    ],
  ],
  '415 unsupported_media_type': [
    [
      'a media type other than JSON',
      /./,
      [
        ...withHeaders(JSON_TYPE, [
          'text/plain',
          'text/json',
          'application/x-www-form-urlencoded',
          'application/',
        ]),
        ...withHeaders(JSON_TYPE, [
          'multipart/form-data; boundary=x',
          'application/jsonx',
          'application/vnd.api+json',
        ]),
        ...withHeaders(JSON_TYPE, [';;;', '*/*']),
      ],
    ],
    [
      'another character set',
      /iso-8859-1|utf-16|utf-7|us-ascii/,
      withHeaders(
        JSON_TYPE,
        ['iso-8859-1', 'utf-16', 'utf-7', 'us-ascii'].map(set => `application/json; charset=${set}`),
      ),
    ],
    [
      'a merge patch for another method',
      /is for PATCH only; send application\/json$/,
      [{}, { method: 'PUT', path: '/categories/1' }].flatMap(sent =>
        withHeaders(JSON_TYPE, ['application/merge-patch+json'], sent),
      ),
    ],
    [
      'a media type of JSON Patch',
      /^JSON Patch is not supported: send a JSON merge patch \(RFC 7396\) as application\/merge-patch\+json$/,
      withHeaders(JSON_TYPE, ['application/json-patch+json'], { ...patch, body: [] }),
    ],
    [
      'a content encoding',
      /gzip|br|deflate|x/,
      withHeaders('content-encoding', ['gzip', 'br', 'deflate', 'gzip, identity', 'x']),
    ],
  ],
  '413 payload_too_large': [
    ['a body over 64 KiB', /65,536 bytes/, bodies(ofSize(64 * KIBIBYTE + 1), 'x'.repeat(1024 * KIBIBYTE))],
  ],
  '406 not_acceptable': [
    [
      'an Accept that excludes JSON',
      /^Responses are application\/json, which Accept ".*" excludes: send application\/json or no Accept$/,
      withHeaders('accept', [
        ...[
          'text/html',
          'application/xml, text/*',
          'application/json;q=0',
          '*/*;q=0',
          'application/vnd.api+xml,',
        ],
        ...['application/vnd.api+json;q=0', 'application/vnd.api+json, application/json;q=0'],
      ]),
    ],
    [
      'an Accept that excludes the stream',
      /excludes: send text\/event-stream or no Accept$/,
      withHeaders('accept', ['application/vnd.api+json'], { method: 'GET', path: '/events/stream' }),
    ],
  ],
  '412 precondition_failed': [
    [
      'a condition that no ETag meets',
      /./,
      withHeaders('if-match', ['""', 'W/"x"', '"a", "b"', ',"a",, W/"b",', '"a,b"', '"W/"', '" "'], patch),
    ],
  ],
  '414 uri_too_long': [
    [
      'a target over 8 KiB',
      /^The request target has 8193 bytes; the limit is 8 KiB \(8,192 bytes\)$/,
      get(
        ...['/pets?name=', '/pets/', '/nowhere/', '/healthz?'].map(path =>
          path.padEnd(8 * KIBIBYTE + 1, 'x'),
        ),
      ),
    ],
  ],
  '431 headers_too_large': [
    [
      'headers over 16 KiB',
      /over 16 KiB/,
      [
        ...withHeaders('x-filler', ['x'.repeat(16 * KIBIBYTE)], get('/pets')[0]),
        ...get(`/pets?name=${'x'.repeat(16 * KIBIBYTE)}`),
        {
          ...get('/pets')[0],
          headers: Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`x-${i}`, 'filler'])),
        },
      ],
    ],
  ],
  '404 route_not_found': [
    [
      'a path that no path is near to',
      /^There is nothing at \/.*: \/docs describes every path$/,
      get('/animals', '/pet/findByStatus', '/v1', '/api', '/cats/', '/pets%00', `/pet/${'1'.repeat(300)}`),
    ],
  ],
};

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
      assert.equal(
        assertRejected(response, 400, 'invalid_request'),
        'The request needs a JSON object as its body',
      );
    }
    // With neither Content-Length nor Transfer-Encoding a request has no body (RFC 9112 §6.3).
    const bare = (method: string, path: string, type = 'application/json') =>
      exchangeBytes(
        shop.origin,
        `${method} ${path} HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${shop.adminKey}\r\nContent-Type: ${type}\r\n\r\n`,
      );
    for (const [method, path] of Object.entries({ PUT: '/pets/1', PATCH: '/store/orders/1' }))
      assert.match(assertRejected(await bare(method, path), 400, 'invalid_request'), /needs a JSON object/);
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
    for (const [path, headers, message] of [
      ['/pets', { authorization: shop.adminKey }, bearer],
      ['/pets', { authorization: 'Basic cGV0OnN0b3Jl' }, bearer],
      ['/pets', { 'Api-Key': shop.adminKey }, 'Send the API key in the header X-API-Key, not api-key'],
      [
        '/pets',
        { 'X-Auth-Token': shop.adminKey },
        'Send the API key in the header X-API-Key, not x-auth-token',
      ],
      [
        `/pets?api_key=${shop.adminKey}`,
        {},
        'The API key in the URL is ignored, and has leaked into logs: rotate it, and send the new one in the header X-API-Key',
      ],
      ['/pets', {}, 'Send an API key in the header X-API-Key, or as Authorization: Bearer <key>'],
    ] as const) {
      const response = await shop.api.as().get(path, headers);
      assert.equal(assertRejected(response, 401, 'missing_api_key'), message);
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
      assert.equal(assertRejected(await shop.api.get(`/pets?${query}`), 400, 'invalid_request'), message);
    for (const [type, meant] of [
      ['order.created', 'order.placed'],
      ['order.deleted', 'order.cancelled'],
      ['key.deleted', 'key.revoked'],
    ])
      assert.equal(
        assertRejected(await shop.api.get(`/events?type=${type}`), 400, 'invalid_request'),
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
      assert.equal(
        assertRejected(sent, 415, 'unsupported_media_type'),
        `Send the body as application/json; ${message}`,
      );
    }
    const form = { body: 'name=Rex', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
    assertRejected(await shop.api.send('POST', '/dogs', form), 404, 'route_not_found');
    const list = await shop.api.post('/pets', [{ name: 'Rex', categoryId: 1 }]);
    assert.match(
      assertRejected(list, 400, 'invalid_request'),
      /: send one object, or several operations with POST \/batch$/,
    );
    const twice = await shop.api.send('POST', '/pets', {
      body: JSON.stringify(JSON.stringify({ name: 'Rex', categoryId: 1 })),
      headers: { 'content-type': 'application/json' },
    });
    assert.match(
      assertRejected(twice, 400, 'invalid_request'),
      /: it is a JSON text inside of a JSON text, so encode it once$/,
    );
    for (const [shipDate, end] of [
      ['2026-02-30T00:00:00Z', /, but was "2026-02-30T00:00:00Z": this day does not exist$/],
      ['2028-02-29', /, but was "2028-02-29"$/],
    ] as const) {
      const rejected = await shop.api.post('/store/orders', { shipDate });
      assert.match(assertRejected(rejected, 400, 'invalid_request'), end);
      const listed = await shop.api.get(`/store/orders?shipDateFrom=${shipDate}`);
      assert.match(assertRejected(listed, 400, 'invalid_request'), end);
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
      assert.equal(assertRejected(response, 400, 'invalid_request'), message);
    }
    for (const list of ['/pets', '/categories', '/store/orders', '/store/inventory', '/keys']) {
      for (const [misspelled, meant] of Object.entries({ limt: 'limit', curser: 'cursor', Sort: 'sort' })) {
        const message = assertRejected(await shop.api.get(`${list}?${misspelled}=1`), 400, 'invalid_request');
        assert.equal(message, `Unknown query parameter \`${misspelled}\`; did you mean \`${meant}\`?`);
      }
      const message = assertRejected(await shop.api.get(`${list}?zebra=1&limit=2`), 400, 'invalid_request');
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

describe('the message for an invalid API key', () => {
  /** A key that does not exist, with a correct checksum. */
  const UNKNOWN_KEY = 'psk_0123456789ABCDEFGHIJKLMNOPQRSTUV4PZz5w';
  const invalid = async ({ api }: Pick<TestApp, 'api'>, key: string) =>
    assertRejected(await api.as(key).get('/pets'), 401, 'invalid_api_key');

  it('explains quotes, a wrong checksum, a variable without a value and a text that is not a key', async t => {
    const ownShop = await startTestApp(t);
    const { key } = await ownShop.clientWith({});
    for (const surrounded of [`"${key}"`, `'${key}'`, `<${key}>`, `Bearer ${key}`, `${key},`])
      assert.match(
        await invalid(ownShop, surrounded),
        /is in quotes, or has other characters around it: send the key alone$/,
      );
    const mistyped = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    assert.match(await invalid(ownShop, mistyped), /is mistyped, because its checksum does not match: copy/);
    for (const other of ['secret', key.slice(0, -1), `${key}0`, 'psk_'])
      assert.match(
        await invalid(ownShop, other),
        /^This is not an API key, which begins with `psk_` and ends /,
      );
    for (const empty of ['', 'undefined', 'null', '$KEY'])
      assert.equal(
        await invalid(ownShop, empty),
        'The API key is empty, because the variable that should contain it has no value',
      );
    const quoted = await ownShop.api.as().get('/pets', { authorization: `Bearer "${key}"` });
    assert.match(assertRejected(quoted, 401, 'invalid_api_key'), /is in quotes/);
  });

  it('states when the key or its secret expired or was revoked, but only to a client with the secret', async t => {
    const ownShop = await startTestApp(t);
    const { api, clock } = ownShop;
    const expiresAt = new Date(clock.now() + 60_000).toISOString();
    const { key, keyId } = await ownShop.clientWith({ expiresAt });
    const rotated = await api.post(`/keys/${keyId}/rotate`, { graceSeconds: 30 });
    const message =
      /^The API key expired at (\S+): use its new secret, or ask an administrator for another key$/;
    assert.equal((await api.as(key).get('/pets')).status, 200);
    clock.advance(30_000);
    assert.equal(message.exec(await invalid(ownShop, key))?.[1], rotated.body.earlierKeysExpireAt);
    clock.advance(30_000);
    assert.equal(message.exec(await invalid(ownShop, rotated.body.key))?.[1], expiresAt);
    const unknown = await invalid(ownShop, UNKNOWN_KEY);
    assert.equal(unknown, 'The API key is unknown: use another key');
    const revoked = await ownShop.clientWith({});
    assert.equal((await api.delete(`/keys/${revoked.keyId}`)).status, 204);
    const ended = `The API key was revoked at ${new Date(clock.now()).toISOString()}: ask an administrator for another key`;
    assert.equal(await invalid(ownShop, revoked.key), ended);
    // A key that was also going to expire was revoked first.
    clock.advance(60_000);
    assert.equal(await invalid(ownShop, revoked.key), ended);
    const both = await ownShop.clientWith({ expiresAt: new Date(clock.now() + 1_000).toISOString() });
    assert.equal((await api.delete(`/keys/${both.keyId}`)).status, 204);
    clock.advance(2_000);
    assert.match(await invalid(ownShop, both.key), /^The API key was revoked at /);
  });
});
