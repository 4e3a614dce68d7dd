import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../contract/errors.ts';
import { dateTime, idToFind, nameText, type Schema } from '../contract/schema.ts';
import { bodyReader, textReader } from './validate.ts';

const animal = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: {
    name: nameText,
    size: { type: 'integer', minimum: 1, maximum: 9 },
    colour: { type: 'string', enum: ['red', 'green'] },
    vaccinated: { type: 'boolean' },
    born: { ...dateTime, nullable: true },
    tags: {
      type: 'array',
      items: { type: 'string', enum: ['a', 'b', 'c'] },
      minItems: 1,
      maxItems: 2,
      uniqueItems: true,
    },
    box: {
      type: 'object',
      required: ['width'],
      additionalProperties: false,
      properties: { width: { type: 'integer', minimum: 1 } },
    },
  },
} as const satisfies Schema;

const readAnimal = bodyReader(animal);

const readQuery = textReader(
  {
    type: 'object',
    additionalProperties: false,
    properties: {
      id: { type: 'array', items: idToFind, maxItems: 3 },
      complete: { type: 'boolean' },
      name: nameText,
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    },
  },
  'query parameter',
);

function rejectionOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'invalid_request', String(error));
    return error.message;
  }
  throw new Error('nothing was rejected');
}

/** A value that counts how often its properties are read. */
function counted<T extends object>(value: T): { value: T; reads: () => number } {
  let reads = 0;
  const proxy = new Proxy(value, {
    get: (target, key, receiver) => {
      reads++;
      return Reflect.get(target, key, receiver);
    },
    getOwnPropertyDescriptor: (target, key) => {
      reads++;
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
  });
  return { value: proxy, reads: () => reads };
}

describe('a rejected body', () => {
  const rejections: [body: string, message: string][] = [
    ['null', 'The body must be a JSON object, but was null'],
    ['[1]', 'The body must be a JSON object, but was [1]'],
    ['{}', 'Field `name` is required'],
    ['{"name":7}', 'Field `name` must be a string, but was 7'],
    ['{"name":"  "}', 'Field `name` must not be blank, but was "  "'],
    ['{"name":"a\\u0000b"}', 'Field `name` must not contain control characters, but was "a\\u0000b"'],
    ['{"name":"a","size":"3"}', 'Field `size` must be an integer (int64), but was "3"'],
    ['{"name":"a","size":1.5}', 'Field `size` must be an integer (int64), but was 1.5'],
    ['{"name":"a","size":0}', 'Field `size` must be at least 1, but was 0'],
    ['{"name":"a","size":10}', 'Field `size` must be at most 9, but was 10'],
    ['{"name":"a","size":1e400}', 'Field `size` must be at most 9, but was Infinity'],
    ['{"name":"a","colour":"blue"}', 'Field `colour` must be one of `red`, `green`, but was "blue"'],
    ['{"name":"a","vaccinated":"yes"}', 'Field `vaccinated` must be `true` or `false`, but was "yes"'],
    ['{"name":"a","born":5}', 'Field `born` must be a string or null, but was 5'],
    ['{"name":"a","tags":"a"}', 'Field `tags` must be an array, but was "a"'],
    // The fields and items of a value of the wrong type are no faults.
    [
      '{"name":"a","tags":{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}}',
      'Field `tags` must be an array, but was {"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}',
    ],
    ['{"name":"a","box":[1,2,3,4,5,6]}', 'Field `box` must be a JSON object, but was [1,2,3,4,5,6]'],
    ['{"name":"a","tags":[]}', 'Field `tags` must have at least 1 item, but was []'],
    ['{"name":"a","tags":["a","b","c"]}', 'Field `tags` must have at most 2 items, but was ["a","b","c"]'],
    ['{"name":"a","tags":["a","a"]}', 'Field `tags` must not name an item twice, but was ["a","a"]'],
    ['{"name":"a","tags":["x"]}', 'Field `tags.0` must be one of `a`, `b`, `c`, but was "x"'],
    ['{"name":"a","box":{}}', 'Field `box.width` is required'],
    ['{"name":"a","box":{"width":1,"widht":2}}', 'Unknown field `box.widht`; did you mean `width`?'],
    ['{"name":"a","colour":"red","colour`":1}', 'Unknown field "colour`"; did you mean `colour`?'],
  ];
  for (const [body, message] of rejections) {
    it(`${body}: ${message}`, () =>
      assert.equal(
        rejectionOf(() => readAnimal(JSON.parse(body))),
        message,
      ));
  }

  it('with many faults is rejected with the first five and the number of further ones', () => {
    const faults = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`unknown${i}`, 1]));
    const message = rejectionOf(() => readAnimal(faults));
    assert.equal(message.match(/`unknown\d`/g)?.length, 4);
    assert.match(message, /^Field `name` is required; .*; and 5 more$/);
  });

  it('with an array that is too long is rejected for its length, and only what a message shows is read', () => {
    const { value: tags, reads } = counted(Array<string>(10_000).fill('x'));
    const message = rejectionOf(() => readAnimal({ name: 'a', size: 0, tags }));
    assert.match(
      message,
      /^Field `size` must be at least 1, but was 0; field `tags` must have at most 2 items, but was \["x","x",[^;]*…$/,
    );
    assert.ok(reads() < 200, `${reads()} reads`);
  });

  it('with thousands of unknown fields is rejected with their number', () => {
    const unknown = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`unknown${i}`, i]));
    const message = rejectionOf(() => readAnimal({ ...unknown, box: unknown }));
    assert.match(message, /^Field `name` is required; .*; and 19997 more$/);
  });

  it('is rejected with numbers quoted as they were sent, if the text is known', () => {
    const quoted = (size: string, json = `{"name":"1e400","size":${size}}`) =>
      rejectionOf(() => readAnimal(JSON.parse(json), json));
    for (const size of ['9007199254740993', '-9007199254740993', '1e400', '12345678901234567.5', '1E21']) {
      assert.ok(quoted(size).endsWith(`but was ${size}`), quoted(size));
      const list = `[${size},{"\\"${size}":1}]`;
      assert.ok(quoted(list).endsWith(`but was ${list}`), quoted(list));
    }
  });

  it('is rejected with a short message of whole characters, whatever it contains', () => {
    const longText = fc.string({ unit: fc.constantFrom('a', '"', '\u0001', '🐶'), minLength: 500 });
    fc.assert(
      fc.property(fc.jsonValue(), longText, (value, long) => {
        for (const body of [{ [long]: value }, { name: value, size: long }, { name: long, box: value }]) {
          const message = rejectionOf(() => readAnimal(body));
          assert.ok(message.length < 1_000 && message.isWellFormed(), message);
        }
      }),
    );
  });
});

describe('a query', () => {
  it('is read from text into the types of its parameters, defaults filled in', () => {
    assert.deepEqual(
      { ...readQuery({ id: '1', complete: 'false', name: ' a ' }) },
      {
        id: [1],
        complete: false,
        name: 'a',
        limit: 20,
      },
    );
    assert.deepEqual({ ...readQuery({ id: ['3', '2'], limit: '7' }) }, { id: [3, 2], limit: 7 });
  });

  const rejections: [query: Record<string, string | string[]>, message: string][] = [
    [{ limit: ['1', '2'] }, 'Query parameter `limit` must be given once, but was given 2 times'],
    [{ limit: '' }, 'Query parameter `limit` must be an integer (int64), but was ""'],
    [{ limit: '0' }, 'Query parameter `limit` must be at least 1, but was 0'],
    [{ limit: '1e1' }, 'Query parameter `limit` must be an integer (int64), but was "1e1"'],
    [{ id: ['1', 'x'] }, 'Query parameter `id` must be an integer (int64), but was "x"'],
    [{ id: ['1', '2', '3', '4'] }, 'Query parameter `id` must have at most 3 items, but was [1,2,3,4]'],
    [{ complete: 'TRUE' }, 'Query parameter `complete` must be `true` or `false`, but was "TRUE"'],
    [{ name: ['a', 'b'] }, 'Query parameter `name` must be given once, but was given 2 times'],
    [{ limt: '1' }, 'Unknown query parameter `limt`; did you mean `limit`?'],
  ];
  for (const [query, message] of rejections) {
    it(`${JSON.stringify(query)}: ${message}`, () =>
      assert.equal(
        rejectionOf(() => readQuery(query)),
        message,
      ));
  }
});
