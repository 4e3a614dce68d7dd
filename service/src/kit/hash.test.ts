import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { quotedHash64 } from './hash.ts';

describe('quotedHash64', () => {
  it('is 16 hexadecimal digits in quotes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), text => {
        assert.match(quotedHash64(text), /^"[0-9a-f]{16}"$/);
      }),
    );
  });

  it('is different for 200,000 similar texts', () => {
    const hashes = new Set<string>();
    for (let id = 0; id < 100_000; id++) {
      hashes.add(quotedHash64(`{"id":${id},"name":"Biscuit","status":"available"}`));
      hashes.add(quotedHash64(`{"id":1,"name":"Biscuit ${id}","status":"available"}`));
    }
    assert.equal(hashes.size, 200_000);
  });

  it('changes with every single character', () => {
    const text = '{"id":1,"name":"Biscuit","categoryId":1,"status":"available"}';
    const hashes = new Set([quotedHash64(text)]);
    for (let i = 0; i < text.length; i++) {
      for (const other of ['#', '%', '\u00e9'])
        hashes.add(quotedHash64(text.slice(0, i) + other + text.slice(i + 1)));
    }
    assert.equal(hashes.size, 1 + text.length * 3);
  });
});
