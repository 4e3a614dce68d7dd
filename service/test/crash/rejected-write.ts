import assert from 'node:assert/strict';
import type { ApiResponse } from '../support/client.ts';

/** What became of a write by its answer: `done` is every answer that is not of an outage. */
export type Became = 'done' | 'unchanged' | 'uncertain';

/** A 503 says whether the change was kept, and nothing else does. */
export function becameOf({ status, body, text }: ApiResponse): Became {
  // An earlier attempt, whose client was told 503, still runs.
  if (status === 409 && body.code === 'idempotency_key_in_use') return 'uncertain';
  if (status !== 503) return 'done';
  assert.equal(body.code, 'service_unavailable', text);
  if (body.message.includes('nothing was changed')) return 'unchanged';
  assert.match(body.message, /may or may not have been stored/);
  return 'uncertain';
}
