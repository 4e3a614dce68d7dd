export const KIBIBYTE = 1024;

/** A request. Without other members, it creates a category. */
export interface Sent {
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

const JSON_TYPE = 'content-type';
const patch = { method: 'PATCH', path: '/categories/1' };
const ofSize = (bytes: number) => '{"name":"Dogs"}'.padEnd(bytes);
const nested = (open: string, close: string, inner = '') =>
  `${open.repeat(10_000)}${inner}${close.repeat(10_000)}`;
const notUtf8 = ['ff', 'c080', 'eda080', 'f4908080', 'e282'].map(bytes =>
  Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes, 'hex'), Buffer.from('"}')]),
);

/** The outcome, and for each cause the message, which states the problem, and requests. Nothing is done. */
export const rejections: Record<string, [what: string, message: RegExp, sent: Sent[]][]> = {
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
