import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HOUR, SECOND } from '../../src/kit/clock.ts';
import { ClientTime } from '../support/client-time.ts';
import { importClient } from '../support/packed-client.ts';
import { TestClock } from '../support/test-clock.ts';

const { PetStore, PetStoreError, WaitTooLongError } = await importClient();

/** A client that gets a response with these headers to each request. */
function clientOf(status: number, headers: Record<string, string>) {
  const waits: number[] = [];
  let requests = 0;
  const time = new ClientTime(new TestClock());
  const store = new PetStore({
    baseUrl: 'http://petstore.example',
    clock: time,
    maxWait: HOUR,
    onWait: ({ milliseconds }) => waits.push(milliseconds),
    fetch: async () => {
      requests++;
      return new Response('[]', { status, headers: { 'content-type': 'application/json', ...headers } });
    },
  });
  return { store, waits, requests: () => requests };
}

describe('a client of a server with senseless headers', () => {
  for (const seconds of ['99999999999999999999', '9'.repeat(400)]) {
    it(`throws WaitTooLongError after Retry-After with ${seconds.length} digits`, async () => {
      const { store } = clientOf(429, { 'retry-after': seconds });
      await assert.rejects(store.pets.list().first(), WaitTooLongError);
      await assert.rejects(store.pets.list().first(), WaitTooLongError);
      assert.equal(store.limits.waiting, 0);
    });
  }

  it('throws WaitTooLongError in a window without an end', async () => {
    const { store } = clientOf(200, { ratelimit: `"day";r=0;t=${'9'.repeat(30)}` });
    assert.equal(await store.pets.list().first(), undefined);
    await assert.rejects(store.pets.list().first(), WaitTooLongError);
    assert.equal(store.limits.waiting, 0);
  });

  for (const wait of ['-5', 'Wed, 21 Oct 2037 07:28:00 GMT', 'soon']) {
    it(`waits for a second after Retry-After: ${wait}`, async () => {
      const { store, waits, requests } = clientOf(429, { 'retry-after': wait });
      const signal = new AbortController();
      const call = store.pets.list({}, { signal: signal.signal }).first();
      while (waits.length === 0) await new Promise(setImmediate);
      signal.abort(new Error('enough'));
      await assert.rejects(call, /enough/);
      assert.equal(requests(), 1);
      assert.ok(waits[0]! >= SECOND && waits[0]! <= 2 * SECOND, String(waits));
    });
  }

  it('has no retryAt without a number of seconds', async () => {
    const headers = { 'retry-after': 'Wed, 21 Oct 2037 07:28:00 GMT', 'x-should-retry': 'false' };
    const { store } = clientOf(503, headers);
    await assert.rejects(store.pets.list().first(), { status: 503, retryAt: undefined });
  });
});

describe('a client with senseless settings', () => {
  it('throws for an API key that no header can have, without showing it', () => {
    for (const apiKey of ['psk_\nx', '日本']) {
      assert.throws(
        () => new PetStore({ baseUrl: 'http://petstore.example', apiKey }),
        (error: Error) => error instanceof PetStoreError && !error.message.includes(apiKey),
      );
    }
  });

  it('has no timeout with Infinity', async () => {
    const store = new PetStore({
      baseUrl: 'http://petstore.example',
      timeout: Number.POSITIVE_INFINITY,
      maxRetries: 0,
      // Timers run in the order of their ends: one that ran at once would abort this request first.
      fetch: (_, { signal }) =>
        new Promise((resolve, reject) => {
          signal!.addEventListener('abort', () => reject(signal!.reason));
          setTimeout(
            () => resolve(new Response('[]', { headers: { 'content-type': 'application/json' } })),
            20,
          );
        }),
    });
    assert.equal(await store.pets.list().first(), undefined);
  });
});
