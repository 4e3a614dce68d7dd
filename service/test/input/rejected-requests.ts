import { rejectedBodies } from './rejected-bodies.ts';
import { rejectedQueries } from './rejected-queries.ts';
import { bodies, get, JSON_TYPE, KIBIBYTE, patch, type Rejection, withHeaders } from './rejected-request.ts';

const ofSize = (bytes: number) => '{"name":"Dogs"}'.padEnd(bytes);

/** The outcome of requests, and their causes. */
export const rejections: Record<string, Rejection[]> = {
  '400 invalid_request': [
    ...rejectedBodies,
    ...rejectedQueries,
    [
      'an If-Match that is not a list of ETags',
      /^Header `If-Match` must be an ETag in double quotes, such as "[\da-f]{16}", but was ./,
      withHeaders(
        'if-match',
        ['', 'garbage', '"', ',', '* *', '*, "a"', '"a" "b"', '"a", abc', 'w/"a"'],
        patch,
      ),
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
      /^The request target has 8193 bytes; the limit is 8 KiB \(8,192 bytes\): send a shorter URL$/,
      get(
        ...['/pets?name=', '/pets/', '/nowhere/', '/healthz?'].map(path =>
          path.padEnd(8 * KIBIBYTE + 1, 'x'),
        ),
      ),
    ],
  ],
  '431 headers_too_large': [
    [
      'headers or a target over 16 KiB',
      /^The request line and headers are over 16 KiB \(16,384 bytes\): send fewer or shorter headers, or a shorter URL$/,
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
