import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClientTime } from '../support/client-time.ts';
import { importClient } from '../support/packed-client.ts';
import { TestClock } from '../support/test-clock.ts';

const { PetStore } = await importClient();

describe('a callback `onWait` that throws', () => {
  it('is an uncaught error of the program, and all calls succeed', async t => {
    const uncaught: unknown[] = [];
    process.setUncaughtExceptionCaptureCallback(error => uncaught.push(error));
    t.after(() => process.setUncaughtExceptionCaptureCallback(null));
    const time = new ClientTime(new TestClock());
    const error = new Error('planted');
    let requests = 0;
    const store = new PetStore({
      baseUrl: 'http://petstore.example',
      clock: time,
      onWait: () => {
        throw error;
      },
      // Every third response reports that the minute is used up.
      fetch: async () => {
        const remaining = 2 - (requests++ % 3);
        const headers = { 'content-type': 'application/json', ratelimit: `"minute";r=${remaining};t=60` };
        return new Response('[]', { headers });
      },
    });
    const calls = Array.from({ length: 9 }, () => store.pets.list().first());
    await time.run(Promise.all(calls), [store]);
    assert.equal(requests, 9);
    assert.deepEqual(uncaught, [error, error]);
    assert.deepEqual([store.limits.inFlight, store.limits.waiting], [0, 0]);
  });
});
