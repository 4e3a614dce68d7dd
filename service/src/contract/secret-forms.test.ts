import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hasSecret, secretPrefixes, withoutSecrets } from './secret-forms.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefix = fc.constantFrom(...Object.values(secretPrefixes));
const random = fc.oneof(
  fc.string({ unit: fc.constantFrom(...BASE62), minLength: 32, maxLength: 43 }),
  fc.uint8Array({ minLength: 24, maxLength: 64 }).map(bytes => Buffer.from(bytes).toString('base64')),
  fc.uint8Array({ minLength: 24, maxLength: 64 }).map(bytes => Buffer.from(bytes).toString('base64url')),
);

const hex = (text: string) => Array.from(text, character => character.charCodeAt(0).toString(16));
const percentEncoded = (text: string) =>
  hex(text)
    .map(code => `%${code}`)
    .join('');

/** How a client, or the JSON that it sends, may write a part of a secret. */
const spelling = fc.constantFrom<(text: string) => string>(
  text => text,
  encodeURIComponent,
  percentEncoded,
  text => percentEncoded(text).toUpperCase(),
  text => encodeURIComponent(encodeURIComponent(text)),
  text => text.replaceAll('/', '\\/'),
  text => text.replace(/[^0-9A-Za-z]/g, character => `\\u00${hex(character)}`),
);
const encoded = fc.constantFrom<(text: string) => string>(text => text, percentEncoded);

describe('input of a client', () => {
  it('is repeated without its secrets, whole or truncated, however they are written', () => {
    fc.assert(
      fc.property(prefix, random, encoded, spelling, fc.nat(), (start, rest, ofStart, ofRest, length) => {
        const part = rest.slice(0, 1 + (length % rest.length));
        const written = ofStart(start) + ofRest(part);
        assert.equal(withoutSecrets(`name ${written}, "${written}"`), `name ${start}…, "${start}…"`);
        // A character has up to three when it is encoded twice.
        if (part.length <= 10) assert.ok(!hasSecret(`?q=x${written}&a`));
        if (part.length >= 32) assert.ok(hasSecret(`?q=x${written}&a`));
      }),
    );
  });

  it('is otherwise repeated as it is', () => {
    const texts = ['pets and desks_', 'a key begins with `psk_`', 'psk_…', 'whsec', 'signing_', ''];
    for (const text of texts) assert.equal(withoutSecrets(text), text);
  });

  it('is searched in time that grows with its length', () => {
    for (const unit of ['psk_', '%70%7', 'whsec_%', 'p%73', 'psk_\\u00']) {
      // In quadratic time this would take minutes.
      const text = unit.repeat(250_000);
      assert.ok(withoutSecrets(text).length <= text.length + 1);
      hasSecret(text);
    }
  });
});
