import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../contract/errors.ts';
import { parseJson, utf8Text } from './json.ts';

function rejectionOf(text: string | Buffer): string {
  try {
    parseJson(utf8Text(Buffer.from(text)));
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'invalid_request', String(error));
    return error.message;
  }
  throw new Error(`${text} was not rejected`);
}

describe('a JSON body', () => {
  it('is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), value => {
        assert.deepEqual(parseJson(JSON.stringify(value)), JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('that is empty is undefined', () => assert.equal(parseJson(''), undefined));

  it('that is malformed is rejected with the position', () => {
    assert.match(rejectionOf('{"name":"a",}'), /not valid JSON: .*position 12/);
    for (const text of [
      '{',
      '[1,]',
      "{'a':1}",
      'undefined',
      'NaN',
      '01',
      '"\t"',
      '{"a":1} x',
      '{}\ufeff',
      '\ufeff\ufeff{}',
    ]) {
      assert.match(rejectionOf(text), /^The body is not valid JSON: /);
    }
  });

  it('with a character that shows nothing is rejected with its name and its position', () => {
    const mark = 'U+FEFF ZERO WIDTH NO-BREAK SPACE';
    for (const [text, fault] of [
      ['\ufeff\ufeff{}', `${mark} is not allowed at position 0: remove it`],
      ['{}\ufeff', `${mark} is not allowed at position 2: remove it`],
      ['{\ufeff"a":1}', `${mark} is not allowed at position 1: remove it`],
      ['{"\ufeff":"\\"",\n"b":\ufeff1}', `${mark} is not allowed at position 15: remove it`],
      ['[1,\u00a02]', 'U+00A0 is not allowed at position 3: remove it'],
      ['{"a":1}\u0000', 'U+0000 is not allowed at position 7: remove it'],
      ['\u{e0020}1', 'U+E0020 is not allowed at position 0: remove it'],
      ['["é","é\\\u200d"]', 'U+200D is not allowed at position 8: remove it'],
      ['{"a":"x\ny"}', 'U+000A in a string, at position 7, must be written as \\u000a'],
    ] as const)
      assert.equal(rejectionOf(text), `The body is not valid JSON: ${fault}`);
    assert.match(rejectionOf('{"a":x,"\u202e"}'), /^[ -~]*'x'.*\\u202e[ -~]*$/);
    for (const text of ['[😀]', `[x,"${'a'.repeat(6)}😀${'a'.repeat(40)}"]`])
      assert.ok(rejectionOf(text).isWellFormed(), rejectionOf(text));
  });

  it('with such a character anywhere is rejected with a message that shows each of its characters', () => {
    const unit = fc.constantFrom(...'{}":,1a\\ \ufeff\u00a0\u200d\u2028\u0007');
    fc.assert(
      fc.property(fc.string({ unit }), text => {
        let message = '';
        try {
          parseJson(utf8Text(Buffer.from(text)));
        } catch (error) {
          message = (error as Error).message;
        }
        assert.doesNotMatch(message, /[\ufeff\u2028]|'[^ -~]'/);
      }),
      { numRuns: 2_000 },
    );
  });

  it('with half a surrogate pair is rejected with the field that contains it', () => {
    for (const half of ['\\ud800', '\\udc00', 'a\\uDBFFb', '\\ud83d\\ud83d\\udc36']) {
      assert.match(rejectionOf(`{"name":"${half}"}`), /^Field `name` contains half of a surrogate pair/);
      assert.match(rejectionOf(`{"list":[{"deep":"${half}"}]}`), /^Field `list` contains half/);
      assert.match(rejectionOf(`{"${half}":1}`), /^A field name contains half/);
      assert.match(rejectionOf(`"${half}"`), /^The body contains half/);
    }
    assert.deepEqual(parseJson('{"name":"\\ud83d\\udc36"}'), { name: '🐶' });
    assert.deepEqual(parseJson('{"name":"\\\\ud800"}'), { name: '\\ud800' });
  });

  it('nests 32 levels and no more', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    assert.ok(parseJson(nested(32)));
    assert.match(rejectionOf(nested(33)), /deeper than 32 levels/);
    assert.match(rejectionOf(nested(30_000)), /deeper than 32 levels/);
    assert.match(rejectionOf(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`), /deeper than 32 levels/);
  });

  const repeated: [body: string, name: string][] = [
    ['{"name":"a","name":"b"}', '`name`'],
    ['{"name":"a","name":"a"}', '`name`'],
    ['{"a":{"b":1,"b":2}}', '`b`'],
    ['[{},{"a":{},"b":[{"a":1}],"a":1}]', '`a`'],
    ['{"name" :1, "\\u006eame"\n:2}', '`name`'],
    ['{"__proto__":1,"__proto__":2}', '`__proto__`'],
    ['{"a\\"":1,"a\\"":2}', '"a\\""'],
    ['{"":1,"":2}', '""'],
  ];
  for (const [body, name] of repeated) {
    it(`${body} is rejected for its second ${name}`, () => {
      assert.equal(rejectionOf(body), `Field ${name} appears twice: send it once`);
    });
  }

  it('is rejected for a repeated name, wherever it has white space and whatever its strings contain', () => {
    const space = fc.constantFrom('', ' ', '\n\t', '\r'.repeat(3));
    const lookalikes = fc.string({ unit: fc.constantFrom('"', ':', ' ', 'a', '\\') });
    fc.assert(
      fc.property(lookalikes, lookalikes, space, space, (name, value, before, after) => {
        const field = `${JSON.stringify(name)}${before}:${after}${JSON.stringify(value)}`;
        assert.match(rejectionOf(`{${field},"b":1,${field}}`), /appears twice: send it once$/);
        assert.match(
          rejectionOf(`[{"b":{${field}${before},${after}${field}}}]`),
          /appears twice: send it once$/,
        );
      }),
    );
  });

  it('may use a name again in another object, and as a value', () => {
    for (const body of [
      '[{"a":1},{"a":1}]',
      '{"a":{"a":{"a":"a"}}}',
      '{"a":["a","a"],"b":"a"}',
      '{"a":"{","b":"}\\"a\\":","c":"\\\\"}',
      '{"a":"\\",\\"a\\":"}',
    ]) {
      assert.deepEqual(parseJson(body), JSON.parse(body));
    }
  });

  it('may contain text that looks like fields', () => {
    const texts = fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', ':', 'a', ' ', ',') });
    fc.assert(
      fc.property(texts, texts, texts, (name, first, second) => {
        const body = { [name]: first, [`${name}'`]: { [name]: second, inner: [first, second] } };
        assert.deepEqual(parseJson(JSON.stringify(body)), body);
      }),
    );
  });
});
