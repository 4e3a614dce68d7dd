import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeCursor, encodeCursor, InvalidCursor } from './paging.ts';

const byName = ['string', 'number'] as const;
const text = fc.string({ unit: 'binary' }).filter(value => !value.includes('\0'));

describe('a cursor', () => {
  it('is decoded to the key that it encodes', () => {
    fc.assert(
      fc.property(text, fc.maxSafeInteger(), (name, id) => {
        const key = decodeCursor(encodeCursor('-name', [name, id]), '-name', byName);
        assert.deepEqual(key, [name, Object.is(id, -0) ? 0 : id]);
      }),
    );
  });

  it('needs no escaping in a URL', () => {
    fc.assert(
      fc.property(text, fc.nat(), (name, id) => {
        assert.match(encodeCursor('name', [name, id]), /^[A-Za-z0-9_-]+$/);
      }),
    );
  });

  it('that is garbage is rejected with this error and no other', () => {
    const base64 = fc.uint8Array().map(bytes => Buffer.from(bytes).toString('base64url'));
    const json = fc.json().map(value => Buffer.from(value).toString('base64url'));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), base64, json), cursor => {
        assert.throws(() => decodeCursor(cursor, 'name', byName), InvalidCursor);
      }),
      { numRuns: 1_000 },
    );
  });
});
