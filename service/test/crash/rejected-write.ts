import assert from 'node:assert/strict';
import type { ApiResponse } from '../support/client.ts';

/** The effect of a write according to its response. Every response that does not report an outage is `done`. */
export type Effect = 'done' | 'unchanged' | 'uncertain';

/** The effect of a write. Only the message of a 503 states whether the change was stored. */
export function effectOf({ status, body, text }: ApiResponse): Effect {
  // An earlier attempt, which got 503, is still running.
  if (status === 409 && body.code === 'idempotency_key_in_use') return 'uncertain';
  if (status !== 503) return 'done';
  assert.equal(body.code, 'service_unavailable', text);
  if (body.message.includes('nothing was changed')) return 'unchanged';
  assert.match(body.message, /may or may not have been stored/);
  return 'uncertain';
}
