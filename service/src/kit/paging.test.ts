import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeCursor, encodeCursor, InvalidCursor } from './paging.ts';

const byName = ['string', 'number'] as const;
/** Any character of Unicode. */
const character = fc
  .integer({ min: 0, max: 0x10ffff })
  .map(point => String.fromCodePoint(point))
  .filter(text => text.isWellFormed());

const text = fc.string({ unit: character }).filter(value => !value.includes('\0'));

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

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

  it('made for another sort is rejected', () => {
    const cursor = encodeCursor('name', ['a', 1]);
    for (const sort of ['-name', 'id', ''])
      assert.throws(() => decodeCursor(cursor, sort, byName), InvalidCursor);
  });

  const forged: [what: string, cursor: string][] = [
    ['is empty', ''],
    ['is not JSON', Buffer.from('["name","a"').toString('base64url')],
    ['is not an array', encoded({ sort: 'name' })],
    ['is null', encoded(null)],
    ['misses a part', encoded(['name', 'a'])],
    ['has a part too many', encoded(['name', 'a', 1, 2])],
    ['has a number for a text', encoded(['name', 1, 1])],
    ['has a text for a number', encoded(['name', 'a', '1'])],
    ['has a fraction', encoded(['name', 'a', 1.5])],
    ['has a number beyond 2^53', encoded(['name', 'a', 2 ** 53])],
    ['has a null', encoded(['name', null, 1])],
    ['has a NUL character', encoded(['name', 'a\0', 1])],
    ['has half a surrogate pair', Buffer.from('["name","\\ud800",1]').toString('base64url')],
    ['is not UTF-8', Buffer.from('5b226e616d65222c22ff222c315d', 'hex').toString('base64url')],
    ['has an additional character', `${encodeCursor('name', ['a', 1])}!`],
  ];
  for (const [what, cursor] of forged) {
    it(`that ${what} is rejected`, () => {
      assert.throws(() => decodeCursor(cursor, 'name', byName), InvalidCursor);
    });
  }

  it('that is garbage is rejected with this error and no other', () => {
    const base64 = fc.uint8Array().map(bytes => Buffer.from(bytes).toString('base64url'));
    const json = fc.json().map(value => Buffer.from(value).toString('base64url'));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: character }), base64, json), cursor => {
        assert.throws(() => decodeCursor(cursor, 'name', byName), InvalidCursor);
      }),
      { numRuns: 1_000 },
    );
  });
});
