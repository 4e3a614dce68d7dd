import { bodies, JSON_TYPE, patch, type Rejection, withHeaders, writes } from './rejected-request.ts';

const nested = (open: string, close: string, inner = '') =>
  `${open.repeat(10_000)}${inner}${close.repeat(10_000)}`;
const notUtf8 = ['ff', 'c080', 'eda080', 'f4908080', 'e282'].map(bytes =>
  Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes, 'hex'), Buffer.from('"}')]),
);

/** Bodies, and their fields, that get 400 `invalid_request`. */
export const rejectedBodies: Rejection[] = [
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
  ['bytes that are not UTF-8', /^The body is not valid UTF-8: encode it as UTF-8$/, bodies(...notUtf8)],
  ['UTF-16', /./, bodies(Buffer.from('{"name":"Dogs"}', 'utf16le'), Buffer.from('\ufeff{}', 'utf16le'))],
  ['half a surrogate pair', /^Field `name` contains half of a surrogate pair/, bodies('{"name":"\\ud800"}')],
  ['a field twice', /^Field `name` appears twice: send it once$/, bodies('{"name":"Dogs","name":"Cats"}')],
  [
    'too many levels',
    /nests deeper than 32 levels: send fewer$/,
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
  [
    'control characters',
    /^Field `(name|description)` must not contain control characters, but was "/,
    [
      ...bodies({ name: 'a\0b' }, { name: 'a\nb' }, { name: 'a\u0085b' }),
      ...writes('PATCH', '/categories/1', { description: 'a\0b' }, { name: '\u007f' }),
    ],
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
    'a body of an operation that has none',
    /^The operation has no body: leave it out$/,
    [
      ...writes('DELETE', '/pets/1', { ifMatch: '"a"' }),
      ...writes('POST', '/webhooks/1/test', { type: 'pet.created' }),
    ],
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
];
