import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isWellFormed, newSecret } from '../../src/access/api-keys/secret.ts';
import { readGuide } from '../support/guide.ts';

const guide = readGuide('api-guide.md');
const configuration = guide.blocks.find(({ language }) => language === 'toml')!.text;

const [, expression = ''] = /^regex = '''(.*)'''$/m.exec(configuration)!;
const [, allowed = ''] = /^regexes = \['''(.*)'''\]$/m.exec(configuration)!;

/** Texts in which secrets are found: what is before and after the secret. */
const surroundings = [
  ['', ''],
  ['PETSTORE_API_KEY=', '\n'],
  ['"apiKey": "', '",'],
  ['curl -H "X-API-Key: ', '" https://shop.example/pets'],
  ['Authorization: Bearer ', '\r\n'],
  ['https://shop.example/pets?key=', '&limit=1'],
  ['<li>', '</li>'],
  ['`', '`.'],
] as const;

describe('the configuration for gitleaks in the guide', () => {
  // gitleaks itself cannot be installed from the registry of npm. Its expressions are those of RE2: the test uses the common subset.
  const rule = new RegExp(expression, 'g');
  const found = (text: string) => [...text.matchAll(rule)].map(([secret]) => secret);

  for (const [name, text] of [
    ['an expression', expression],
    ['a list of what is allowed', allowed],
  ] as const) {
    it(`has ${name} with only what RE2 and this test read alike`, () => {
      assert.match(text, /^(\\b|\w|\(\?:\w+\)\?|\[[\w-]+\]\{\d+\})+$/);
    });
  }

  it('allows publishable keys, which the rules of gitleaks itself would report, and no others', () => {
    const isAllowed = new RegExp(allowed);
    for (const [before, after] of surroundings) {
      assert.match(before + newSecret('publishable') + after, isAllowed);
      for (const kind of ['secret', 'test'] as const)
        assert.doesNotMatch(before + newSecret(kind) + after, isAllowed);
    }
  });

  it('finds planted secrets in every surrounding, and no publishable key', () => {
    for (let i = 0; i < 100; i++) {
      const secret = newSecret(i % 2 ? 'test' : 'secret');
      const page = newSecret('publishable');
      for (const [before, after] of surroundings) {
        assert.deepEqual(found(before + secret + after), [secret]);
        assert.deepEqual(found(before + page + after), []);
      }
      assert.deepEqual(found(`${secret},${page},${secret}`), [secret, secret]);
    }
  });

  it('has a keyword that every secret contains', () => {
    const [, keyword = ''] = /^keywords = \["(.+)"\]$/m.exec(configuration)!;
    for (const kind of ['secret', 'test'] as const) assert.ok(newSecret(kind).includes(keyword));
  });

  it('finds nothing in other texts', () => {
    const secret = newSecret();
    for (const text of [
      secret.slice(0, -1),
      `${secret}a`,
      `x${secret}`,
      secret.toUpperCase(),
      'psk_',
      guide.prose,
    ])
      assert.deepEqual(found(text), [], text.slice(0, 60));
  });
});

it('the guide to leaked keys shows a secret with the checksum that it states', () => {
  const [, example = ''] = /"keys": \["(psk_\w+)"\]/.exec(guide.blocks.map(({ text }) => text).join())!;
  assert.ok(isWellFormed(example));
  assert.ok(guide.codes.includes(example.slice(-6)));
  assert.ok(guide.codes.includes('psk_(?:test_)?[0-9A-Za-z]{38}'));
});
