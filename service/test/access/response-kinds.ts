/** A kind of request, and its status when it is admitted. */
export interface Kind {
  status: number;
  method: string;
  target: string;
  headers?: string[];
  body?: string;
  /** Which limit it counts against; `nothing` shows the numbers of the address without counting. */
  counted: 'key' | 'account' | 'address' | 'nothing';
  /** The key that it presents: the caller's, none, a mistyped one, or an unknown one. */
  key: 'own' | 'none' | 'mistyped' | 'unknown';
}

type Details = Partial<Pick<Kind, 'headers' | 'body'>>;

const withKey = (status: number, method: string, target: string, details: Details = {}): Kind => ({
  status,
  method,
  target,
  ...details,
  counted: 'key',
  key: 'own',
});

const json = ['Content-Type: application/json'];
const dogs = { headers: json, body: '{"name":"Dogs"}' };

/** Kinds that any key can send; category 1 has the name Dogs, and GET /pets/1 is past its sunset. */
export const anyKey: Kind[] = [
  withKey(200, 'GET', '/pets'),
  withKey(200, 'HEAD', '/pets'),
  withKey(200, 'GET', '/categories/1'),
  withKey(201, 'POST', '/store/orders', { headers: json, body: '{}' }),
  withKey(304, 'GET', '/categories/1', { headers: ['If-None-Match: *'] }),
  withKey(304, 'HEAD', '/categories/1', { headers: ['If-None-Match: *'] }),
  withKey(400, 'GET', '/pets/%ZZ'),
  withKey(400, 'GET', '/pets?colour=red'),
  withKey(400, 'GET', '/pets', { headers: ['API-Version: 2'] }),
  withKey(400, 'GET', '/pets', { headers: ['Host: another'] }),
  withKey(404, 'GET', '/categories/77'),
  withKey(404, 'HEAD', '/nowhere'),
  withKey(404, 'POST', '/nowhere', dogs),
  withKey(405, 'DELETE', '/pets'),
  withKey(405, 'PROPFIND', '/pets'),
  withKey(406, 'GET', '/pets', { headers: ['Accept: text/html'] }),
  withKey(409, 'POST', '/categories', dogs),
  withKey(410, 'GET', '/pets/1'),
  withKey(412, 'PUT', '/categories/1', { ...dogs, headers: [...json, 'If-Match: "x"'] }),
  withKey(414, 'GET', `/${'x'.repeat(8_192)}`),
  withKey(415, 'POST', '/categories', { headers: ['Content-Type: text/plain'], body: 'Dogs' }),
  withKey(422, 'POST', '/pets', { headers: json, body: '{"name":"Rex","categoryId":77}' }),
];

/** Kinds whose body is invalid or too large, after which the connection is closed. */
export const endingConnection: Kind[] = [
  withKey(400, 'POST', '/categories', { headers: json, body: '{' }),
  withKey(413, 'POST', '/categories', { headers: json, body: 'x'.repeat(65_537) }),
];

export const withoutScope: Kind[] = [
  withKey(403, 'GET', '/keys'),
  withKey(403, 'DELETE', '/keys/1'),
  withKey(403, 'GET', '/store/inventory'),
];

/** Key 2 has no ban; key 3 was revoked. */
export const administrators: Kind[] = [
  withKey(204, 'DELETE', '/keys/2/ban'),
  withKey(204, 'DELETE', '/keys/3'),
  withKey(409, 'PATCH', '/keys/3', { headers: json, body: '{}' }),
  withKey(200, 'GET', '/keys/2/usage'),
  withKey(404, 'GET', '/keys/77/usage'),
];

/**
 * Kinds that count against the address, or against the bucket of a key for its account. Those of one group are decided
 * in the order in which they are sent. Two of different groups can be swapped, because only some need a lookup of the
 * key.
 */
export const byAddress: Kind[][] = [
  [
    { status: 401, method: 'GET', target: '/pets', counted: 'address', key: 'none' },
    { status: 401, method: 'HEAD', target: '/keys/1', counted: 'address', key: 'mistyped' },
    { status: 401, method: 'GET', target: '/account', counted: 'address', key: 'none' },
    { status: 401, method: 'GET', target: '/account', counted: 'address', key: 'mistyped' },
    { status: 414, method: 'GET', target: `/pets?${'x'.repeat(8_192)}`, counted: 'address', key: 'none' },
    { status: 401, method: 'POST', target: '/pets', ...dogs, counted: 'address', key: 'mistyped' },
    { status: 404, method: 'GET', target: '/nowhere', counted: 'address', key: 'none' },
    { status: 405, method: 'DELETE', target: '/pets', counted: 'address', key: 'none' },
    { status: 400, method: 'GET', target: '/%ZZ', counted: 'address', key: 'none' },
    { status: 200, method: 'GET', target: '/healthz', counted: 'nothing', key: 'none' },
    { status: 200, method: 'HEAD', target: '/readyz', counted: 'nothing', key: 'mistyped' },
    { status: 400, method: 'GET', target: '/healthz?x=1', counted: 'nothing', key: 'own' },
    { status: 414, method: 'GET', target: `/healthz?${'x'.repeat(8_192)}`, counted: 'nothing', key: 'none' },
    { status: 200, method: 'GET', target: '/openapi.json', counted: 'nothing', key: 'mistyped' },
  ],
  [
    { status: 200, method: 'GET', target: '/account', counted: 'account', key: 'own' },
    { status: 200, method: 'HEAD', target: '/account', counted: 'account', key: 'own' },
    { status: 400, method: 'GET', target: '/account?x=1', counted: 'account', key: 'own' },
    {
      status: 304,
      method: 'GET',
      target: '/account',
      headers: ['If-None-Match: *'],
      counted: 'account',
      key: 'own',
    },
  ],
  [{ status: 401, method: 'GET', target: '/pets', counted: 'address', key: 'unknown' }],
];

/** Requests that cannot be read far enough to identify the caller. */
export const unreadable: [status: number, bytes: string][] = [
  [400, 'garbage\r\n\r\n'],
  [400, 'GET /pets HTTP/9.9\r\n\r\n'],
  [400, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'],
  [431, `GET /pets HTTP/1.1\r\nHost: shop\r\nX-Filler: ${'x'.repeat(16_384)}\r\n\r\n`],
];
