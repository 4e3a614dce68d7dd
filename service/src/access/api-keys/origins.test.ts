import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyKind } from '../../contract/key-kinds.ts';
import { rejectMismatchedKind } from './mismatched-kind.ts';

function complaintAbout(settings: {
  kind?: KeyKind;
  scopes?: 'admin'[];
  origins?: string[];
}): string | undefined {
  try {
    rejectMismatchedKind({ kind: 'publishable', plan: 'free', scopes: ['pets:read'], ...settings });
    return undefined;
  } catch (error) {
    assert.ok(error instanceof Error);
    return error.message;
  }
}

describe('an origin of a publishable key', () => {
  for (const origin of [
    'https://shop.example',
    'https://shop.example:8443',
    'https://xn--mnchen-3ya.example',
    'https://192.0.2.1',
    'https://[2001:db8::1]:3000',
    'http://localhost',
    'http://localhost:3000',
    'http://shop.localhost:3000',
    'http://127.0.0.1:3000',
    'http://[::1]:3000',
  ]) {
    it(`can be ${origin}`, () => assert.equal(complaintAbout({ origins: [origin] }), undefined));
  }

  for (const [text, corrected] of [
    ['https://Shop.example/', 'https://shop.example'],
    ['https://shop.example/cart?id=1#top', 'https://shop.example'],
    ['https://shop.example:443', 'https://shop.example'],
    ['HTTPS://shop.example', 'https://shop.example'],
    ['https://user:secret@shop.example', 'https://shop.example'],
    ['https://münchen.example', 'https://xn--mnchen-3ya.example'],
    ['https://[2001:DB8:0:0::1]', 'https://[2001:db8::1]'],
    ['http://LOCALHOST:80', 'http://localhost'],
    ['shop.example', 'https://shop.example'],
    ['shop.example:8443', 'https://shop.example:8443'],
    ['localhost:3000', 'http://localhost:3000'],
    ['127.0.0.1:3000', 'http://127.0.0.1:3000'],
  ] as const) {
    it(`cannot be ${text}, and the message suggests the origin`, () => {
      assert.equal(
        complaintAbout({ origins: [text] }),
        `Field \`origins\`: \`${text}\` is not an origin; did you mean \`${corrected}\`?`,
      );
    });
  }

  for (const text of [
    '*',
    'https://*.shop.example',
    'null',
    'https://',
    'file:///tmp/a',
    'a b',
    'ftp://shop.example',
  ]) {
    it(`cannot be ${text}, and the message shows examples`, () => {
      assert.equal(
        complaintAbout({ origins: [text] }),
        `Field \`origins\`: \`${text}\` is not an origin; send scheme, host and port, such as \`https://shop.example\` or ` +
          '`http://localhost:3000`, without wildcards',
      );
    });
  }

  for (const [text, encrypted] of [
    ['http://shop.example', 'https://shop.example'],
    ['http://192.168.1.5:3000', 'https://192.168.1.5:3000'],
    ['http://127.evil.example', 'https://127.evil.example'],
  ] as const) {
    it(`cannot be ${text}, because it is not encrypted`, () => {
      assert.equal(
        complaintAbout({ origins: [text] }),
        `Field \`origins\`: pages of \`${text}\` are not encrypted; use \`${encrypted}\`, because only pages of this machine, ` +
          'such as `http://localhost:3000`, can use http',
      );
    });
  }

  it('is checked after valid ones, too', () => {
    assert.match(complaintAbout({ origins: ['https://shop.example', 'shop.example'] }) ?? '', /did you mean/);
  });
});

describe('the kind of a key', () => {
  it('publishable requires origins and allows only scopes that read pets and stock', () => {
    assert.equal(
      complaintAbout({}),
      'Field `origins` is required for a publishable key: list the origins of the pages that use it, such as ' +
        '`https://shop.example`',
    );
    assert.equal(
      complaintAbout({ scopes: ['admin'], origins: ['https://shop.example'] }),
      'Field `scopes` of a publishable key can contain only `pets:read` and `inventory:read`, because every visitor of a ' +
        'page can read the key, but contained `admin`',
    );
  });

  it('secret rejects origins', () => {
    assert.equal(complaintAbout({ kind: 'secret', scopes: ['admin'] }), undefined);
    assert.equal(
      complaintAbout({ kind: 'secret', origins: ['https://shop.example'] }),
      'Field `origins` is for publishable keys only: browsers cannot use another key, whatever their origin is',
    );
  });
});
