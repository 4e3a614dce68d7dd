import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rejectOtherForm } from './negotiation.ts';

describe('an Accept header that was read before', () => {
  it('means the same again, for each form by itself', () => {
    const accept = 'application/json, text/plain, */*;q=0';
    for (let time = 0; time < 2; time++) {
      assert.doesNotThrow(() => rejectOtherForm({ accept }));
      assert.doesNotThrow(() => rejectOtherForm({ accept }, 'text/plain'));
      assert.throws(() => rejectOtherForm({ accept }, 'text/event-stream'));
    }
  });

  it('means the same after any number of others, long and short', () => {
    for (let i = 0; i < 1_000; i++) {
      const parameters = `;v=${'1'.repeat(i)}`;
      assert.doesNotThrow(() => rejectOtherForm({ accept: `application/json${parameters}` }));
      assert.throws(() => rejectOtherForm({ accept: `text/html${parameters}` }));
    }
    assert.throws(() => rejectOtherForm({ accept: 'text/html;v=1' }));
  });
});
