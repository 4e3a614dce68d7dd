import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SECOND } from '../../src/kit/clock.ts';
import { ClientTime } from '../support/client-time.ts';
import { importClient } from '../support/packed-client.ts';
import { TestClock } from '../support/test-clock.ts';

const { PetStore } = await importClient();

/** A client whose requests wait until the test responds to them. */
function start() {
  const time = new ClientTime(new TestClock());
  const pending: { respond: (remaining: number) => void; fail: () => void }[] = [];
  let waits = 0;
  const store = new PetStore({
    baseUrl: 'http://petstore.example',
    clock: time,
    onWait: () => waits++,
    fetch: () =>
      new Promise((resolve, reject) => {
        const headers = (remaining: number) => ({
          'content-type': 'application/json',
          ratelimit: `"minute";r=${remaining};t=50`,
        });
        pending.push({
          respond: remaining => resolve(new Response('[]', { headers: headers(remaining) })),
          fail: () => reject(new TypeError('fetch failed')),
        });
      }),
  });
  const call = () => store.pets.list().first();
  return { time, pending, call, waits: () => waits };
}

async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await nextTurn();
}

describe('a client whose responses overtake each other', () => {
  it('believes the smallest number of remaining requests', async () => {
    const { pending, call } = start();
    const calls = Array.from({ length: 4 }, call);
    await settle();
    pending[0]!.respond(4);
    await settle();
    for (const [i, remaining] of [1, 3, 2].entries()) pending[i + 1]!.respond(remaining);
    await Promise.all(calls);
    const more = Array.from({ length: 5 }, call);
    await settle();
    assert.equal(pending.length, 5, 'one more request');
    for (const each of more) each.catch(() => {});
  });

  it('does not wait for a failure from before a wait', async () => {
    const { time, pending, call, waits } = start();
    const calls = Array.from({ length: 4 }, call);
    await settle();
    pending[0]!.respond(50);
    await settle();
    pending[1]!.fail();
    await settle();
    time.advance(2 * SECOND);
    await settle();
    pending[4]!.respond(49);
    await settle();
    assert.equal(waits(), 1);
    pending[2]!.fail();
    await settle();
    pending[3]!.respond(48);
    pending[5]!.respond(47);
    await Promise.all(calls);
    assert.equal(waits(), 1);
  });
});
