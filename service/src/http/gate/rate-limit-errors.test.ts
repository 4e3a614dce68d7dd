import assert from 'node:assert/strict';
import { it } from 'node:test';
import { newState, peek } from '../../counters/decide.ts';
import { addRateLimitHeaders, FREE_TERMS } from './rate-limit-errors.ts';

it('the rate-limit headers of limits that are no longer used leave nothing in memory', t => {
  const { mock } = t.mock.method(Map.prototype, 'set');
  const decision = peek(newState(0), FREE_TERMS, 0);
  for (let i = 0; i < 1_000; i++) addRateLimitHeaders([], decision, { ...FREE_TERMS.limits });
  const sizes = mock.calls.map(call => (call.this as Map<unknown, unknown>).size);
  assert.ok(Math.max(0, ...sizes) < 500);
});
