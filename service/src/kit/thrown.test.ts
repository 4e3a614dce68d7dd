import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { asError, codeOf } from './thrown.ts';

describe('a thrown value', () => {
  it('is returned unchanged if it is an error, and otherwise becomes the message of one', () => {
    const error = new TypeError('wrong');
    assert.equal(asError(error), error);
    assert.equal(asError('wrong').message, 'wrong');
    assert.equal(asError(undefined).message, 'undefined');
  });

  it('has a code if it is an error with a code', () => {
    assert.throws(
      () => readFileSync('/does/not/exist'),
      error => codeOf(error) === 'ENOENT',
    );
    assert.equal(codeOf(Object.assign(new Error('wrong'), { code: 7 })), undefined);
    for (const thrown of [new Error('wrong'), { code: 'ENOENT' }, 'ENOENT', null, undefined]) {
      assert.equal(codeOf(thrown), undefined);
    }
  });
});
