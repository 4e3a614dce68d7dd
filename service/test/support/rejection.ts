import assert from 'node:assert/strict';
import type { ApiResponse } from './client.ts';

/** Asserts that a request was rejected with this status and this error code. Returns the message. */
export function assertRejected(
  { status, body, text }: ApiResponse,
  expectedStatus: number,
  code: string,
): string {
  assert.deepEqual([status, body?.code, body?.status], [expectedStatus, code, expectedStatus], text);
  return body.message;
}
