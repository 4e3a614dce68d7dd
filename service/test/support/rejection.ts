import assert from 'node:assert/strict';
import type { ApiResponse } from './client.ts';

/** Asserts that a request was rejected with this status, error code and message, or a message that matches. Returns the message. */
export function assertRejected(
  { status, body, text }: ApiResponse,
  expectedStatus: number,
  code: string,
  expected?: string | RegExp,
): string {
  assert.deepEqual([status, body?.code, body?.status], [expectedStatus, code, expectedStatus], text);
  const { message } = body;
  if (typeof expected === 'string') assert.equal(message, expected);
  else if (expected) assert.match(message, expected);
  return message;
}

/** The same for the most frequent rejection: 400 `invalid_request`. */
export function assertInvalid(response: ApiResponse, expected?: string | RegExp): string {
  return assertRejected(response, 400, 'invalid_request', expected);
}
