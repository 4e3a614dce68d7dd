import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertIsErrorMessage, contract } from '../support/contract.ts';

/** The examples of errors anywhere in the contract. */
function errorExamples(node: unknown): { code: string; message: string; status: number }[] {
  if (typeof node !== 'object' || node === null) return [];
  if ('code' in node && 'message' in node && 'status' in node && typeof node.status === 'number') {
    return [{ code: String(node.code), message: String(node.message), status: node.status }];
  }
  return Object.values(node).flatMap(errorExamples);
}

describe('an error message', () => {
  it('begins with a capital letter and ends without a full stop in every example of the contract', () => {
    const examples = errorExamples(contract);
    assert.ok(examples.length > 50, `${examples.length} examples`);
    for (const { code, message } of examples) assertIsErrorMessage(message, code);
  });

  it('that breaks one of these rules fails the check of every response in the suite', () => {
    assertIsErrorMessage('Field `name` is required', 'good');
    for (const message of ['field `name` is required', '`name` is required', 'There is no pet 42.', '']) {
      assert.throws(() => assertIsErrorMessage(message, 'bad'), assert.AssertionError, message);
    }
  });
});
