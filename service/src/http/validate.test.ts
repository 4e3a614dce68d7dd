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

/** A value that counts how often one of its properties is looked at. */
function counted<T extends object>(value: T): { value: T; looks: () => number } {
  let looks = 0;
  const proxy = new Proxy(value, {
    get: (target, key, receiver) => {
      looks++;
      return Reflect.get(target, key, receiver);
    },
    getOwnPropertyDescriptor: (target, key) => {
      looks++;
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
  });
  return { value: proxy, looks: () => looks };
}

describe('a rejected body', () => {
  const rejections: [body: string, message: string][] = [
    ['null', 'the body must be a JSON object, but was null'],
    ['[1]', 'the body must be a JSON object, but was [1]'],
    ['{}', 'field `name` is required'],
    ['{"name":7}', 'field `name` must be a string, but was 7'],
    ['{"name":"  "}', 'field `name` must not be empty, but was ""'],
    ['{"name":"a\\u0000b"}', 'field `name` must not contain control characters, but was "a\\u0000b"'],
    ['{"name":"a","size":"3"}', 'field `size` must be an integer (int64), but was "3"'],
    ['{"name":"a","size":1.5}', 'field `size` must be an integer (int64), but was 1.5'],
    ['{"name":"a","size":0}', 'field `size` must be at least 1, but was 0'],
    ['{"name":"a","size":10}', 'field `size` must be at most 9, but was 10'],
    ['{"name":"a","size":1e400}', 'field `size` must be at most 9, but was Infinity'],
    ['{"name":"a","colour":"blue"}', 'field `colour` must be one of `red`, `green`, but was "blue"'],
    ['{"name":"a","vaccinated":"yes"}', 'field `vaccinated` must be `true` or `false`, but was "yes"'],
    ['{"name":"a","born":5}', 'field `born` must be a string or null, but was 5'],
    ['{"name":"a","tags":"a"}', 'field `tags` must be an array, but was "a"'],
    ['{"name":"a","tags":[]}', 'field `tags` must have at least 1 item, but was []'],
    ['{"name":"a","tags":["a","b","c"]}', 'field `tags` must have at most 2 items, but was ["a","b","c"]'],
    ['{"name":"a","tags":["a","a"]}', 'field `tags` must not name an item twice, but was ["a","a"]'],
    ['{"name":"a","tags":["x"]}', 'field `tags.0` must be one of `a`, `b`, `c`, but was "x"'],
    ['{"name":"a","box":{}}', 'field `box.width` is required'],
    ['{"name":"a","box":{"width":1,"widht":2}}', 'unknown field `box.widht`; did you mean `width`?'],
    ['{"name":"a","colour":"red","colour`":1}', 'unknown field "colour`"; did you mean `colour`?'],
  ];
  for (const [body, message] of rejections) {
    it(`${body}: ${message}`, () =>
      assert.equal(
        rejectionOf(() => readAnimal(JSON.parse(body))),
        message,
      ));
  }

  it('that is missing is asked for', () => {
    assert.equal(
      rejectionOf(() => readAnimal(undefined)),
      'The request needs a JSON object as its body',
    );
  });

  it('with an unknown field like none it has is told those it has, the prototype’s names included', () => {
    for (const name of ['__proto__', 'constructor', 'hasOwnProperty', 'toString', '']) {
      const body = JSON.parse(`{"name":"a",${JSON.stringify(name)}:{"size":1}}`);
      const told = rejectionOf(() => readAnimal(body));
      assert.match(told, /^unknown field .*; known are `name`, `size`, `colour`, /);
      assert.ok(told.includes(name), told);
    }
  });

  it('with a date-time that is none is told the form', () => {
    const told = rejectionOf(() => readAnimal({ name: 'a', born: '2026-02-30T00:00:00Z' }));
    assert.match(told, /^field `born` must be a date-time with offset .*, but was "2026-02-30T00:00:00Z"$/);
  });

  it('with many faults is told the first five and how many more there are', () => {
    const faults = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`unknown${i}`, 1]));
    const told = rejectionOf(() => readAnimal(faults));
    assert.equal(told.match(/unknown field/g)?.length, 4);
    assert.match(told, /^field `name` is required; .*; and 5 more$/);
  });

  it('with an array that is too long is rejected for its length, and only what a message shows is read', () => {
    const { value: tags, looks } = counted(Array<string>(10_000).fill('x'));
    const told = rejectionOf(() => readAnimal({ name: 'a', size: 0, tags }));
    assert.match(
      told,
      /^field `size` must be at least 1, but was 0; field `tags` must have at most 2 items, but was \["x","x",[^;]*…$/,
    );
    assert.ok(looks() < 200, `${looks()} looks`);
  });

  it('with thousands of unknown fields has all of them counted', () => {
    const unknown = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`unknown${i}`, i]));
    const told = rejectionOf(() => readAnimal({ ...unknown, box: unknown }));
    assert.match(told, /^field `name` is required; .*; and 19997 more$/);
  });

  it('quotes numbers as they were sent, when it is given the text', () => {
    const quoted = (size: string, json = `{"name":"1e400","size":${size}}`) =>
      rejectionOf(() => readAnimal(JSON.parse(json), json));
    for (const size of ['9007199254740993', '-9007199254740993', '1e400', '12345678901234567.5', '1E21']) {
      assert.ok(quoted(size).endsWith(`but was ${size}`), quoted(size));
      const list = `[${size},{"\\"${size}":1}]`;
      assert.ok(quoted(list).endsWith(`but was ${list}`), quoted(list));
    }
  });

  it('is told of in a short message of whole characters, whatever it holds', () => {
    const longText = fc.string({ unit: fc.constantFrom('a', '"', '\u0001', '🐶'), minLength: 500 });
    fc.assert(
      fc.property(fc.jsonValue(), longText, (value, long) => {
        for (const body of [{ [long]: value }, { name: value, size: long }, { name: long, box: value }]) {
          const told = rejectionOf(() => readAnimal(body));
          assert.ok(told.length < 1_000 && told.isWellFormed(), told);
        }
      }),
    );
  });
});

describe('an accepted body', () => {
  it('may have spaces around a name, which count in its length', () => {
    assert.deepEqual(readAnimal({ name: 'Rex'.padEnd(200) }), { name: 'Rex' });
    assert.match(
      rejectionOf(() => readAnimal({ name: 'Rex'.padEnd(201) })),
      /^field `name` must have at most 200 characters, but was "Rex /,
    );
    assert.deepEqual(readAnimal({ name: '🐶'.repeat(100).padEnd(300) }), { name: '🐶'.repeat(100) });
  });

  it('has its names trimmed, and its nulls where they are allowed', () => {
    assert.deepEqual(readAnimal({ name: ' \u00a0Rex ', born: null }), { name: 'Rex', born: null });
  });

  it('may have a name of 200 characters, counted as people count them', () => {
    assert.ok(readAnimal({ name: '🐶'.repeat(200) }));
    assert.match(
      rejectionOf(() => readAnimal({ name: '🐶'.repeat(201) })),
      /at most 200 characters/,
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
    [{ limit: ['1', '2'] }, 'query parameter `limit` must be given once, but was given 2 times'],
    [{ limit: '' }, 'query parameter `limit` must be an integer (int64), but was ""'],
    [{ limit: '0' }, 'query parameter `limit` must be at least 1, but was 0'],
    [{ limit: '1e1' }, 'query parameter `limit` must be an integer (int64), but was "1e1"'],
    [{ id: ['1', 'x'] }, 'query parameter `id` must be an integer (int64), but was "x"'],
    [{ id: ['1', '2', '3', '4'] }, 'query parameter `id` must have at most 3 items, but was [1,2,3,4]'],
    [{ complete: 'TRUE' }, 'query parameter `complete` must be `true` or `false`, but was "TRUE"'],
    [{ name: ['a', 'b'] }, 'query parameter `name` must be given once, but was given 2 times'],
    [{ limt: '1' }, 'unknown query parameter `limt`; did you mean `limit`?'],
  ];
  for (const [query, message] of rejections) {
    it(`${JSON.stringify(query)}: ${message}`, () =>
      assert.equal(
        rejectionOf(() => readQuery(query)),
        message,
      ));
  }

  it('with a parameter that is no name of its own is rejected', () => {
    const query = JSON.parse('{"__proto__":"1"}');
    assert.match(
      rejectionOf(() => readQuery(query)),
      /^unknown query parameter `__proto__`; known are `id`/,
    );
  });

  it('takes every int64 for an ID, and nothing else', () => {
    const isInt64 = (value: bigint) => value >= -(2n ** 63n) && value < 2n ** 63n;
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }), value => {
        const reading = () => readQuery({ id: String(value) }) as { id: number[] };
        if (isInt64(value)) assert.deepEqual(reading().id, [Number(value)]);
        else assert.match(rejectionOf(reading), /must be an integer \(int64\)/);
      }),
    );
    for (const value of ['9223372036854775807', '-9223372036854775808']) readQuery({ id: value });
    for (const value of ['9223372036854775808', '-9223372036854775809', '-0', '01', '+1', ' 1', '1 ', '١']) {
      rejectionOf(() => readQuery({ id: value }));
    }
  });
});
