import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rejectOtherMediaType } from './negotiation.ts';

describe('an Accept header that was parsed before', () => {
  it('has the same result again, for each media type separately', () => {
    const accept = 'application/json, text/plain, */*;q=0';
    for (let time = 0; time < 2; time++) {
      assert.doesNotThrow(() => rejectOtherMediaType({ accept }));
      assert.doesNotThrow(() => rejectOtherMediaType({ accept }, 'text/plain'));
      assert.throws(() => rejectOtherMediaType({ accept }, 'text/event-stream'));
    }
  });

  it('has the same result after any number of others, long and short', () => {
    for (let i = 0; i < 1_000; i++) {
      const parameters = `;v=${'1'.repeat(i)}`;
      assert.doesNotThrow(() => rejectOtherMediaType({ accept: `application/json${parameters}` }));
      assert.throws(() => rejectOtherMediaType({ accept: `text/html${parameters}` }));
    }
    assert.throws(() => rejectOtherMediaType({ accept: 'text/html;v=1' }));
  });
});
