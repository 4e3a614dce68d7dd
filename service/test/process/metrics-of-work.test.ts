import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SharedCounters } from '../../src/counters/redis.ts';
import { DatabaseUnavailable } from '../../src/db/database.ts';
import { holdLocks } from '../support/hold-writes.ts';
import { degradedOf, scrape } from '../support/metrics.ts';
import { startTestApp } from '../support/test-app.ts';
import { withSession } from '../support/test-store.ts';
import { until } from '../support/until.ts';

const OPS = { OPS_PORT: '0' };
const UNNUMBERED = 'petstore_events_unnumbered';
const STREAMS = 'petstore_event_streams_open';
const SWEEPS = 'petstore_sweep_last_success_timestamp_seconds';

describe('the metrics of background work', () => {
  it('show the last success of each sweep, and 0 before it', async t => {
    const { app, clock, metricsUrl } = await startTestApp(t, { environment: OPS });
    const figures = async () => (await scrape(metricsUrl)).samples.filter(({ name }) => name === SWEEPS);
    const before = await figures();
    await app.sweeper.run();
    clock.advance(60_000);
    await app.sweeper.run();
    const shown = await figures();
    assert.deepEqual(shown.map(({ labels }) => labels.sweep).sort(), [
      'counts in Redis',
      'events',
      'expiring keys',
      'idempotency keys',
      'key limits',
      'quota warnings',
      'rejections',
      'rotated keys',
      'search words',
      'webhooks',
    ]);
    for (const { value } of shown) assert.equal(value, clock.now() / 1_000);
    assert.deepEqual(
      before.map(({ value }) => value),
      shown.map(() => 0),
    );
  });

  it('show all reasons why the service is degraded, as /readyz does', async t => {
    const { app, api, metricsUrl } = await startTestApp(t, { environment: OPS, shared: true });
    t.mock.method(app.db, 'tryWrite', () => Promise.reject(new DatabaseUnavailable(undefined, 'full')));
    t.mock.method(SharedCounters.prototype, 'status', () => 'fallback');
    assert.deepEqual(await degradedOf(metricsUrl), ['disk_full', 'limits_not_shared']);
    assert.match((await api.get('/readyz')).body.message, /^The disk .* full: .*; Redis cannot be used: /);
  });

  it('count the events that have had no number for more than ten seconds, because no replica can number them', async t => {
    const { app, api, clock, metricsUrl } = await startTestApp(t, { environment: OPS, shared: true });
    /** The figure, which is missing when the database does not return it within a second. */
    const unnumbered = async () => {
      let figure: number | undefined;
      await until('the figure is shown', async () => {
        figure = (await scrape(metricsUrl)).samples.find(({ name }) => name === UNNUMBERED)?.value;
        return figure !== undefined;
      });
      return figure;
    };
    // The first key was created a moment ago.
    await app.db.numberEvents();
    const release = await holdLocks(app.db, tx => tx.lock('event relay'));
    for (let i = 0; i < 3; i++) await api.post('/categories', { name: `Category ${i}` });
    const figures = [await unnumbered()];
    clock.advance(10_001);
    figures.push(await unnumbered());
    await release();
    await app.db.numberEvents();
    figures.push(await unnumbered());
    assert.deepEqual(figures, [0, 3, 0]);
  });

  it('show the connections to PostgreSQL, and whether it responds', async t => {
    const { app, metricsUrl } = await startTestApp(t, { environment: OPS, shared: true });
    const figures = async () => {
      const metrics = await scrape(metricsUrl);
      return {
        up: metrics.total('petstore_database_up'),
        most: metrics.total('petstore_database_connections_max'),
        busy: metrics.total('petstore_database_connections', { state: 'busy' }),
        idle: metrics.total('petstore_database_connections', { state: 'idle' }),
      };
    };
    assert.partialDeepStrictEqual(await figures(), { up: 1, most: app.config.databaseConnections });
    const load = { queued: 0, connections: { open: 5, idle: 2, most: 9 }, isUp: false };
    t.mock.method(app.db, 'load', () => load);
    assert.deepEqual(await figures(), { up: 0, most: 9, busy: 3, idle: 2 });
  });

  it('show the connections as they were before the metrics themselves read the database', async t => {
    const { app, metricsUrl } = await startTestApp(t, { environment: OPS, shared: true });
    let idle = 3;
    t.mock.method(app.db, 'load', () => ({ queued: 0, connections: { open: 3, idle, most: 9 }, isUp: true }));
    t.mock.method(app.db, 'unnumberedEvents', async () => {
      idle = 0;
      return 0;
    });
    const metrics = await scrape(metricsUrl);
    assert.equal(metrics.total('petstore_database_connections', { state: 'idle' }), 3);
    assert.equal(metrics.total('petstore_database_connections', { state: 'busy' }), 0);
    assert.equal(idle, 0);
  });

  it('omit the reasons why the service is degraded while the store fails in an unexpected way, and show the others', async t => {
    const { app, clock, metricsUrl } = await startTestApp(t, { environment: OPS });
    const seriesOf = async () =>
      (await scrape(metricsUrl)).samples.filter(({ name }) => name === 'petstore_degraded').length;
    const before = await seriesOf();
    assert.ok(before > 0);
    const { mock } = t.mock.method(app.db, 'tryWrite', async () => {
      throw new Error('invalid page in block 7 of relation base/1/2');
    });
    // The probe runs at most once a second.
    clock.advance(1_000);
    assert.equal(await seriesOf(), 0);
    mock.restore();
    clock.advance(1_000);
    assert.equal(await seriesOf(), before);
  });

  it('omit a figure that the database does not return in time, and show the others', async t => {
    const { store, metricsUrl } = await startTestApp(t, { environment: OPS, shared: true });
    const names = await withSession(store.environment.DATABASE_URL!, async other => {
      await other.query('BEGIN; LOCK TABLE new_events IN ACCESS EXCLUSIVE MODE');
      return new Set((await scrape(metricsUrl)).samples.map(({ name }) => name));
    });
    assert.ok(!names.has(UNNUMBERED));
    assert.ok(names.has(STREAMS));
    await until('the figure is shown again', async () => {
      const after = await scrape(metricsUrl);
      return after.samples.some(({ name }) => name === UNNUMBERED);
    });
  });
});
