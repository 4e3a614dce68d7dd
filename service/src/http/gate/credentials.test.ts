import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { presentedKey } from './credentials.ts';

describe('the key of a request', () => {
  const presented: [headers: Record<string, string>, key: string | undefined][] = [
    [{}, undefined],
    [{ 'x-api-key': 'psk_a' }, 'psk_a'],
    [{ 'x-api-key': ' psk_a ' }, 'psk_a'],
    [{ 'x-api-key': '' }, ''],
    [{ authorization: 'Bearer psk_a' }, 'psk_a'],
    [{ authorization: 'bearer psk_a' }, 'psk_a'],
    [{ authorization: 'BEARER   psk_a  ' }, 'psk_a'],
    [{ authorization: 'Bearer' }, undefined],
    [{ authorization: 'Bearer ' }, undefined],
    [{ authorization: 'Bearer psk_a psk_b' }, undefined],
    [{ authorization: 'Basic cGV0OnN0b3Jl' }, undefined],
    [{ authorization: 'psk_a' }, undefined],
    [{ 'x-api-key': 'psk_a', authorization: 'Bearer psk_b' }, 'psk_a'],
    [{ 'x-api-key': 'psk_a', authorization: 'Basic cGV0OnN0b3Jl' }, 'psk_a'],
  ];
  for (const [headers, key] of presented) {
    it(`in ${JSON.stringify(headers)} is ${JSON.stringify(key) ?? 'none'}`, () => {
      assert.equal(presentedKey(headers), key);
    });
  }
});
