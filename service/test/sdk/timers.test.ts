import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../sdk/src/clock.ts';
import { importClient } from '../support/packed-client.ts';

const { PetStore } = await importClient();

/** A client of a service whose limit is used up for 50 seconds, and the number of its timers. */
function start() {
  const timers = new Set<object>();
  const clock: Clock = {
    now: () => 0,
    random: () => 0,
    after: () => {
      const timer = {};
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  const headers = { 'content-type': 'application/json', ratelimit: '"minute";r=0;t=50' };
  const store = new PetStore({
    baseUrl: 'http://petstore.example',
    clock,
    fetch: async () => new Response('[]', { headers }),
  });
  return { store, timers };
}

describe('the timers of a client', () => {
  it('end with the last call that waits, so that they do not keep a program running', async () => {
    const { store, timers } = start();
    await store.pets.list().first();
    assert.equal(timers.size, 0, 'after a request');
    const ends = [new AbortController(), new AbortController()];
    const calls = ends.map(({ signal }) => store.pets.list({}, { signal }).first());
    await nextTurn();
    assert.equal(timers.size, 1, 'one timer for all calls that wait');
    for (const [i, end] of ends.entries()) {
      end.abort();
      await assert.rejects(calls[i]!, { name: 'AbortError' });
      assert.equal(timers.size, i === 0 ? 1 : 0, `after ${i + 1} of 2 calls have ended`);
    }
  });
});
