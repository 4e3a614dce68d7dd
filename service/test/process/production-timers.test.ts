import assert from 'node:assert/strict';
import type { Server } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DatabaseUnavailable } from '../../src/db/database.ts';
import { HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { EventReader } from '../support/event-reader.ts';
import { Intervals } from '../support/intervals.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';

/** The intervals of the timers that the service starts until it serves a stream, in milliseconds. */
async function intervalsOf(t: TestContext, shared: boolean) {
  const timers = t.mock.method(globalThis, 'setInterval');
  const shop = await startTestApp(t, { shared });
  const started = timers.mock.calls.map(({ arguments: [, interval] }) => interval!);
  const reader = await EventReader.open(shop.origin, shop.adminKey);
  const all = timers.mock.calls.map(({ arguments: [, interval] }) => interval!);
  await reader.close();
  return { shop, started: started.toSorted((a, b) => a - b), ofStream: all.slice(started.length) };
}

describe('the timers of the running service', () => {
  it('have the production values on the embedded store: a crash loses the counts of a second', async t => {
    const { shop, started, ofStream } = await intervalsOf(t, false);
    assert.deepEqual(started, [800, SECOND, SECOND, SECOND, MINUTE, HOUR]);
    assert.deepEqual(ofStream.toSorted(), [SECOND, SECOND, 15 * SECOND]);
    const server = shop.app.server.server as Server & { connectionsCheckingInterval: number };
    const { requestTimeout, headersTimeout, keepAliveTimeout, timeout } = server;
    assert.deepEqual(
      [requestTimeout, headersTimeout, keepAliveTimeout, timeout, server.connectionsCheckingInterval],
      [30 * SECOND, 30 * SECOND, 72 * SECOND, 2 * MINUTE, SECOND],
    );
  });

  it('store counts less often with Redis, which keeps them', async t => {
    const { started } = await intervalsOf(t, true);
    assert.deepEqual(started, [500, SECOND, SECOND, SECOND, SECOND, 5 * SECOND, MINUTE, HOUR]);
  });

  it('store counts again at the next interval after the store was unavailable', async t => {
    const intervals = Intervals.hold(t);
    const { app } = await startTestApp(t, { shared: false });
    const { mock } = t.mock.method(app.keyLimits, 'flush', async () => {
      throw new DatabaseUnavailable(undefined, 'full');
    });
    for (let flushes = 1; flushes <= 3; flushes++) {
      intervals.run(800);
      assert.equal(mock.callCount(), flushes);
      await nextTurn();
    }
    mock.restore();
  });

  it('is ready as soon as the store can be written again, also after its clock was set back', async t => {
    const { api, clock, app } = await startTestApp(t);
    const probe = t.mock.method(app.db, 'tryWrite');
    const isReady = async () => (await api.get('/readyz')).body.status === 'ok';
    assert.ok(await isReady());
    clock.advance(-HOUR);
    probe.mock.mockImplementationOnce(async () => {
      throw new DatabaseUnavailable(undefined, 'full');
    });
    assert.ok(!(await isReady()), 'the probe of the time before does not count any more');
    clock.advance(-HOUR);
    // Nor does the failure. It is still reported if the probe takes half a second.
    await until('it is ready', isReady);
  });
});
