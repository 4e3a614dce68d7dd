import assert from 'node:assert/strict';
import type { Answer } from './client.ts';

/** Asserts that a request was refused under this status with this error code; answers the message. */
export function assertRefused({ status, body, text }: Answer, expectedStatus: number, code: string): string {
  assert.deepEqual([status, body?.code, body?.status], [expectedStatus, code, expectedStatus], text);
  return body.message;
}
