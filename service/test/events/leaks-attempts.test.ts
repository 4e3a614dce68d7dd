import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import { send } from '../../src/events/webhooks/attempt.ts';
import { Connections } from '../../src/events/webhooks/connections.ts';
import type { Outcome } from '../../src/events/webhooks/delivery-rules.ts';
import { Endpoints } from '../../src/events/webhooks/endpoints.ts';
import { resolveLocally } from '../../src/events/webhooks/resolve.ts';
import { MINUTE } from '../../src/kit/clock.ts';
import { sized } from '../support/long.ts';
import { until } from '../support/until.ts';
import { Receiver } from './receiver.ts';

const ATTEMPTS = sized(200, 1_000);
const AT_ONCE = 50;

/** Attempts of many deliveries under one abort signal, and the listeners and timers that they leave. */
async function attempts(t: TestContext) {
  const receiver = await Receiver.start();
  const endpoints = new Endpoints({ resolve: resolveLocally, allowPrivate: true });
  const connections = new Connections({ total: AT_ONCE, perHost: AT_ONCE });
  t.after(async () => {
    connections.close();
    await receiver.close();
  });
  const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length;
  const before = timers();
  return {
    receiver,
    /** Makes `AT_ONCE` attempts. Calls `onSent` when the endpoint has received all of them. */
    batch: async (abort: AbortController, { timeout = MINUTE, onSent = () => {} } = {}) => {
      const sent = receiver.received.length + AT_ONCE;
      const outcomes = Array.from({ length: AT_ONCE }, () =>
        send(receiver.url, {}, '{}', abort.signal, { endpoints, connections, timeout }),
      );
      await receiver.has(sent);
      onSent();
      return Promise.all(outcomes);
    },
    /** Fails if a listener or a timer of an attempt remains. */
    assertNothingLeft: async (abort: AbortController) => {
      assert.equal(getEventListeners(abort.signal, 'abort').length, 0);
      await until('no timer remains', () => timers() <= before);
    },
  };
}

const resultsOf = (outcomes: (Outcome | undefined)[]) => new Set(outcomes.map(outcome => outcome?.result));

describe(`${ATTEMPTS} attempts to deliver leave nothing behind`, () => {
  const outcomes: [result: Outcome['result'], react: (receiver: Receiver) => void][] = [
    ['delivered', receiver => receiver.respondWith(204)],
    ['rejected', receiver => receiver.respondWith(500)],
    ['unreachable', receiver => receiver.handleWith(response => response.destroy())],
  ];
  for (const [result, react] of outcomes) {
    it(`whose result is ${result}`, async t => {
      const { batch, receiver, assertNothingLeft } = await attempts(t);
      const abort = new AbortController();
      react(receiver);
      for (let made = 0; made < ATTEMPTS; made += AT_ONCE)
        assert.deepEqual(resultsOf(await batch(abort)), new Set([result]));
      await assertNothingLeft(abort);
    });
  }

  it('that were aborted', async t => {
    const { batch, receiver, assertNothingLeft } = await attempts(t);
    for (let made = 0; made < ATTEMPTS; made += AT_ONCE) {
      const abort = new AbortController();
      receiver.hold();
      assert.deepEqual(resultsOf(await batch(abort, { onSent: () => abort.abort() })), new Set([undefined]));
      await until('the endpoint has no open request', () => receiver.open === 0);
      await assertNothingLeft(abort);
    }
  });

  it('that timed out', async t => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { batch, receiver } = await attempts(t);
    const abort = new AbortController();
    receiver.hold();
    for (let made = 0; made < ATTEMPTS; made += AT_ONCE) {
      const outcomes = await batch(abort, { onSent: () => t.mock.timers.tick(MINUTE) });
      assert.deepEqual(resultsOf(outcomes), new Set(['timeout']));
    }
    assert.equal(getEventListeners(abort.signal, 'abort').length, 0);
    t.mock.timers.reset();
  });
});
