import { newSecret } from '../../service/src/access/api-keys/secret.ts';
import { MAX_SECRETS } from '../../service/src/access/leaked-keys/leak.ts';
import { type RawRequest, rawRequest } from './exchange.ts';

/** Just below the maximum size of a request line and headers together, in bytes. */
const HEAD = 15_500;
/** Just below the maximum size of a body, in bytes. */
const BODY = 65_000;

/** Repeats `part` as often as it fits into `size` characters. */
function fill(part: string, size: number): string {
  return part.repeat(Math.floor(size / part.length));
}

function array(item: string): string {
  return `[${fill(`${item},`, BODY - item.length - 200)}${item}]`;
}

/** As many secrets as a report may have, each with a correct checksum. */
function leakedSecrets(): string[] {
  return Array.from({ length: MAX_SECRETS }, () => newSecret());
}

/** Requests near the size limits that are designed to cost as much as possible. */
export function hostileRequests(apiKey: string): RawRequest[] {
  const get = (name: string, target: string, headers: Record<string, string> = {}) => ({
    ...rawRequest('GET', target, { apiKey, headers }),
    name,
  });
  const send = (name: string, target: string, body: string, method = 'POST') => ({
    ...rawRequest(method, target, { apiKey, body }),
    name,
  });
  const keyWith = (field: string, value: string) => `{"name":"Bench","plan":"pro","${field}":${value}}`;
  const hookWith = (field: string, value: string) => `{"url":"https://example.com","${field}":${value}}`;
  return [
    get('path of / + 8,100 slashes + x', `/${'/'.repeat(8_100)}x`),
    get('path of slashes', `/${'/'.repeat(HEAD)}`),
    get('path /pets + slashes + x', `/pets${'/'.repeat(HEAD - 10)}x`),
    get('path of escapes', `/${fill('%41', HEAD)}`),
    get('path of escaped slashes', `/pets/${fill('%2F', HEAD)}`),
    get('path of dots', `/${fill('../', HEAD)}`),
    get('path with a broken escape', `/${fill('a', HEAD)}%`),
    get('path of segments', `/${fill('a/', HEAD)}`),
    get('ID of digits', `/pets/${fill('1', HEAD)}`),
    get('query of ampersands', `/pets?${fill('&', HEAD)}`),
    get(
      'query of unknown parameters',
      `/pets?${Array.from({ length: 2_300 }, (_, i) => `p${i}=`).join('&')}`,
    ),
    get('query of one unknown name', `/pets?${fill('a', HEAD)}=1`),
    get('query of IDs', `/pets?${fill('id=1&', HEAD)}`),
    get('query of wrong IDs', `/pets?${fill('id=x&', HEAD)}`),
    get('query of one name', `/pets?name=${fill('%C3%84', HEAD)}`),
    get('query of types', `/events?${fill('type=a&', HEAD)}`),
    get('query of escapes', `/pets?name=${fill('%', HEAD)}`),
    get('query with a long cursor', `/pets?cursor=${Buffer.from(fill('[', 3_000)).toString('base64url')}`),
    get('query with a long date', `/store/orders?shipDateFrom=2026-01-01T00:00:00.${fill('9', HEAD - 100)}Z`),
    get('header Accept of commas', '/pets', { Accept: fill(',', HEAD) }),
    get('header Accept of types', '/pets', { Accept: fill('a/b;q=0.1,', HEAD) }),
    get('header If-None-Match of tags', '/keys/1', { 'If-None-Match': fill('"x",', HEAD) }),
    get('header If-None-Match of backslashes', '/keys/1', { 'If-None-Match': `"${fill('\\', HEAD)}` }),
    get('header Authorization of spaces', '/pets', { Authorization: `Bearer${fill(' ', HEAD)}x` }),
    get('header X-API-Key', '/pets', { 'X-API-Key': fill('psk_', HEAD) }),
    get('header X-Forwarded-For of commas', '/pets', { 'X-Forwarded-For': fill('1.2.3.4,', HEAD) }),
    get('header X-Request-Id of keys', '/pets', { 'X-Request-Id': fill('psk_a', HEAD) }),
    get('header Accept-Encoding of commas', '/docs', { 'Accept-Encoding': fill('gzip;q=0,', HEAD) }),
    get('header API-Version', '/pets', { 'API-Version': fill('1.', HEAD) }),
    get('2,000 headers', '/pets', Object.fromEntries(Array.from({ length: 1_900 }, (_, i) => [`h${i}`, '']))),
    {
      ...rawRequest('POST', '/pets', {
        apiKey,
        body: '{}',
        headers: { 'Content-Type': `application/json;${fill('a=b;', HEAD)}` },
      }),
      name: 'header Content-Type of parameters',
    },
    send('body of equal scopes', '/keys', keyWith('scopes', array('"pets:read"'))),
    send('body of unknown scopes', '/keys', keyWith('scopes', array('"a"'))),
    send('body of empty scopes', '/keys', keyWith('scopes', array('""'))),
    send('body of numbers as scopes', '/keys', keyWith('scopes', array('1'))),
    send(
      'body of different scopes',
      '/keys',
      keyWith('scopes', `[${Array.from({ length: 9_000 }, (_, i) => `"${i}"`).join(',')}]`),
    ),
    send('1,000 leaked secrets', '/keys/revoke-leaked', JSON.stringify({ keys: leakedSecrets() })),
    send('body of equal types', '/webhooks', hookWith('types', array('"a"'))),
    send(
      'body of different types',
      '/webhooks',
      hookWith('types', `[${Array.from({ length: 9_000 }, (_, i) => `"${i}"`).join(',')}]`),
    ),
    send('body of objects as types', '/webhooks', hookWith('types', array('{}'))),
    send('body of arrays as types', '/webhooks', hookWith('types', array('[]'))),
    send('deep body of arrays', '/pets', `${'['.repeat(32_000)}${']'.repeat(32_000)}`),
    send('deep body of objects', '/pets', `${fill('{"a":', 54_000)}1${'}'.repeat(10_800)}`),
    send(
      'body of unknown fields',
      '/pets',
      `{${Array.from({ length: 6_500 }, (_, i) => `"a${i}":1`).join(',')}}`,
    ),
    send(
      'body of fields similar to known ones',
      '/pets',
      `{${Array.from({ length: 4_000 }, (_, i) => `"nam${i}":1`).join(',')}}`,
    ),
    send('body of one repeated name', '/pets', `{${fill('"name":"a",', BODY)}"categoryId":1}`),
    send('body of __proto__', '/pets', `{${fill('"__proto__":1,', BODY)}"name":"a"}`),
    send('body with one huge text', '/pets', `{"name":"${fill('a', BODY)}","categoryId":1}`),
    send('body with one huge escaped text', '/pets', `{"name":"${fill('\\u0041', BODY)}","categoryId":1}`),
    send('body with one huge number', '/pets', `{"name":"a","categoryId":${fill('1', BODY)}}`),
    send('body of spaces', '/pets', `{"name":"a",${fill(' ', BODY)}"categoryId":1}`),
    send('body with one huge unknown name', '/pets', `{"${fill('a', BODY)}":1}`),
    send(
      'body with a name of spaces',
      '/pets',
      `{"name":"${fill(' ', BODY - 100)}x${fill(' ', 50)}y","categoryId":1}`,
    ),
    send(
      'body with a long date',
      '/store/orders',
      `{"shipDate":"2026-01-01T00:00:00.${fill('9', BODY - 100)}Z"}`,
    ),
    send('body with a long URL', '/webhooks', `{"url":"https://${fill('a.', BODY - 100)}com"}`),
    send('broken body', '/pets', `{"name":"${fill('a', BODY)}`),
    send('body of escaped quotes', '/pets', `{"name":"${fill('\\"', BODY)}`),
  ];
}
