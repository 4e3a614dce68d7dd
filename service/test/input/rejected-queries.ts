import { get, type Rejection } from './rejected-request.ts';

/** Queries and paths that get 400 `invalid_request`. */
export const rejectedQueries: Rejection[] = [
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
];
