import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hashOf, isSecretKey, isTestKey, isWellFormed, newSecret } from './secret.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('a key', () => {
  for (const [kind, prefix, isSecret, others] of [
    ['secret', 'psk_', true, []],
    ['publishable', 'psk_pub_', false, ['psk_', 'psk_pab_']],
    ['test', 'psk_test_', true, ['psk_', 'psk_pub_']],
  ] as const) {
    it(`of the kind ${kind} is ${prefix}, 32 random characters, and 6 of checksum over all of them`, () => {
      const keys = Array.from({ length: 100 }, () => newSecret(kind));
      for (const key of keys) {
        assert.match(key, new RegExp(`^${prefix}[0-9A-Za-z]{38}$`));
        assert.ok(isWellFormed(key), key);
        for (const other of others) assert.ok(!isWellFormed(key.replace(prefix, other)), other);
        assert.deepEqual([isTestKey(key), isSecretKey(key)], [kind === 'test', isSecret]);
      }
      assert.equal(new Set(keys).size, keys.length);
    });
  }

  it('has the CRC-32 of the rest for a checksum, in base62', () => {
    // CRC-32 of the first 36 characters is 4,042,516,060.
    assert.ok(isWellFormed('psk_0123456789ABCDEFGHIJKLMNOPQRSTUV4PZz5w'));
  });

  it('with a single changed character is not well-formed', () => {
    const key = newSecret();
    for (let place = 0; place < key.length; place++) {
      for (const character of `${BASE62}_-.é\0 `) {
        if (character === key[place]) continue;
        const mistyped = key.slice(0, place) + character + key.slice(place + 1);
        assert.ok(!isWellFormed(mistyped), mistyped);
      }
    }
  });

  it('with two neighbours swapped, cut short or lengthened is not well-formed', () => {
    const key = newSecret();
    for (let place = 0; place < key.length - 1; place++) {
      const swapped = key.slice(0, place) + key[place + 1] + key[place] + key.slice(place + 2);
      if (swapped !== key) assert.ok(!isWellFormed(swapped), swapped);
    }
    for (const other of [
      key.slice(0, -1),
      key.slice(1),
      `${key}0`,
      ` ${key}`,
      `${key}\n`,
      `${key.slice(0, -1)}_`,
      key.toUpperCase(),
    ]) {
      assert.ok(!isWellFormed(other), other);
    }
  });

  it('is well-formed, and other texts are not', () => {
    fc.assert(fc.property(fc.string({ maxLength: 60 }), text => assert.ok(!isWellFormed(text))));
  });

  it('is stored as its SHA-256', () => {
    const key = newSecret();
    assert.deepEqual(hashOf(key), createHash('sha256').update(key).digest());
  });
});
