import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { describedRoutes } from '../../src/described-routes.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { provokeBan, usedUp } from '../access/provoke-ban.ts';
import { readProjectFile } from '../support/deploy-files.ts';
import { aCategory } from '../support/factories.ts';
import { holdWrites } from '../support/hold-writes.ts';
import { type Metrics, scrape } from '../support/metrics.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { onPostgres } from '../support/test-store.ts';
import { valuesOf } from '../support/values.ts';

const REQUESTS = 'http_request_duration_seconds_count';
const DECISIONS = 'petstore_rate_limit_decisions_total';

function start(t: TestContext, environment: Record<string, string> = {}): Promise<TestApp> {
  return startTestApp(t, { environment: { OPS_PORT: '0', ...environment } });
}

describe('the metrics', () => {
  it('are in the Prometheus text format, from the first scrape on', async t => {
    const shop = await start(t);
    await scrape(shop.metricsUrl);
    await shop.api.get('/pets');
    const { samples } = await scrape(shop.metricsUrl);
    const names = new Set(samples.map(({ name }) => name));
    for (const name of [
      'http_request_duration_seconds_bucket',
      'http_request_duration_seconds_sum',
      REQUESTS,
      'petstore_http_requests_in_flight',
      'petstore_http_aborted_requests_total',
      DECISIONS,
      'petstore_bans_total',
      'petstore_http_excess_connections_total',
      'petstore_database_queue',
      'petstore_commit_batch_size_bucket',
      'nodejs_eventloop_lag_p99_seconds',
      'nodejs_heap_size_used_bytes',
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
    ]) {
      assert.ok(names.has(name), `${name} is missing`);
    }
    assert.equal(names.has('petstore_database_connections'), onPostgres);
  });

  it('count every request by method, path template and status', async t => {
    const { api, metricsUrl } = await start(t);
    const began = performance.now();
    const categoryId = await aCategory(api);
    for (let i = 0; i < 3; i++) await api.get(`/categories/${categoryId}`);
    await api.get('/categories/999999');
    await api.head(`/categories/${categoryId}?x=1`);
    await api.as().get('/pets');
    await api.get('/no/such/path');
    await api.delete('/pets');
    await api.get('/pets/%ZZ');
    const elapsed = (performance.now() - began) / SECOND;

    const metrics = await scrape(metricsUrl);
    const bucket = (le: string) =>
      metrics.total('http_request_duration_seconds_bucket', { status: '200', le });
    assert.ok(bucket('0.0005') <= bucket('10'), 'buckets contain those before them');
    assert.equal(bucket('+Inf'), 3);
    const counted = metrics.samples
      .filter(({ name }) => name === REQUESTS)
      .map(({ labels: { method, route, status }, value }) => `${value} ${method} ${route} ${status}`);
    assert.deepEqual(counted.sort(), [
      '1 DELETE none 405',
      '1 GET /categories/{categoryId} 404',
      '1 GET /pets 401',
      '1 GET none 400',
      '1 GET none 404',
      '1 HEAD /categories/{categoryId} 400',
      '1 POST /categories 201',
      '3 GET /categories/{categoryId} 200',
    ]);
    const seconds = metrics.total('http_request_duration_seconds_sum');
    assert.ok(seconds > 0 && seconds < elapsed, `${seconds} of ${elapsed} s`);
  });

  it('count requests by the program of the project that sent them, in its version, and all others together', async t => {
    const { api, metricsUrl } = await start(t);
    const { version } = JSON.parse(readProjectFile('package.json'));
    for (const name of ['client', 'command', 'console', 'client'])
      await api.get('/healthz', { 'user-agent': `petstore-${name}/${version} (node 24)` });
    await api.get('/healthz', {
      'user-agent': 'Mozilla/5.0',
      'x-petstore-client': `petstore-console/${version}`,
    });
    for (const name of [
      'petstore-client/0.9.0',
      'petstore-robot/1.0.0',
      'curl/8.0',
      'x petstore-client/1.0.0',
    ])
      await api.get('/healthz', { 'user-agent': name });
    const { samples } = await scrape(metricsUrl);
    const counted = samples
      .filter(({ name }) => name === 'petstore_client_requests_total')
      .map(({ labels: { client, version }, value }) => `${value} ${client} ${version}`);
    assert.deepEqual(counted.toSorted(), [
      `1 client other`,
      `1 command ${version}`,
      `2 client ${version}`,
      `2 console ${version}`,
      '3 other other',
    ]);
  });

  it('count unreadable requests separately', async t => {
    const { origin, metricsUrl } = await start(t);
    await exchangeBytes(origin, 'garbage\r\n\r\n');
    const metrics = await scrape(metricsUrl);
    assert.equal(metrics.total('petstore_http_unreadable_requests_total', { status: '400' }), 1);
    assert.equal(metrics.total(REQUESTS), 0);
    assert.equal(metrics.total(DECISIONS, { counted_by: 'address', verdict: 'admitted' }), 1);
  });

  it('have a bounded number of series, whatever paths and methods are requested', async t => {
    const { api, metricsUrl } = await start(t);
    // Node.js handles CONNECT separately, and its client treats the response as a tunnel.
    const methods = METHODS.filter(method => method !== 'CONNECT');
    const flood = async (round: number) => {
      for (const method of methods) await api.send(method, `/unknown/${round}/${method}`);
      for (const method of methods) await api.send(method, `/pets/${round}${round}/more`);
      for (let i = 0; i < 50; i++) await api.get(`/docs/assets/${round}-${i}.js`);
      for (let i = 0; i < 50; i++) await api.get(`/pets/${round}${i}`, { 'x-request-id': `r-${round}-${i}` });
    };
    await flood(1);
    const { samples: first } = await scrape(metricsUrl);
    await flood(2);
    const { samples: second } = await scrape(metricsUrl);

    const requestSamples = (samples: Metrics['samples']) => samples.filter(({ name }) => name === REQUESTS);
    assert.deepEqual(valuesOf(requestSamples(second), 'labels'), valuesOf(requestSamples(first), 'labels'));
    const templates = new Set(['none', '/', ...describedRoutes.map(({ path }) => path)]);
    for (const { labels } of requestSamples(second)) {
      assert.ok(templates.has(labels.route!) || labels.route!.startsWith('/docs'), labels.route);
      assert.match(labels.method!, /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|other)$/);
      assert.match(labels.status!, /^[1-5]\d\d$/);
    }
  });

  it('count decisions by verdict and by the kind of limit, and count bans', async t => {
    const shop = await start(t);
    const client = await usedUp(shop);
    const before = await scrape(shop.metricsUrl);
    await provokeBan(shop, client);
    await client.get('/pets');
    for (let i = 0; i < 61; i++) await shop.api.as('psk_wrong').get('/pets');

    const after = await scrape(shop.metricsUrl);
    const counted = (verdict: string, counted_by: string) =>
      after.total(DECISIONS, { verdict, counted_by }) - before.total(DECISIONS, { verdict, counted_by });
    assert.equal(counted('admitted', 'key'), 0);
    assert.equal(counted('refused', 'key'), 10);
    assert.equal(counted('banned', 'key'), 2);
    assert.equal(counted('admitted', 'address'), 60);
    assert.equal(counted('refused', 'address'), 1);
    assert.equal(counted('banned', 'address'), 0);
    assert.equal(before.total('petstore_bans_total'), 0);
    assert.equal(after.total('petstore_bans_total'), 1);
  });

  it('count decisions by the limits of an account, a visit, a foreign origin and another network', async t => {
    const { api, clientWith, metricsUrl } = await start(t);
    const origins = ['https://shop.example'];
    const page = await clientWith({ kind: 'publishable', scopes: ['pets:read'], origins });
    await page.get('/pets', { origin: 'https://shop.example' });
    for (let i = 0; i < 2; i++) await page.get('/pets', { origin: 'https://other.example' });
    const office = {
      name: 'Office',
      plan: 'pro',
      scopes: ['pets:read'],
      allowedNetworks: ['203.0.113.0/24'],
    };
    const { key } = (await api.post('/keys', office)).body;
    for (let i = 0; i < 3; i++) await api.as(key).get('/pets');
    for (let i = 0; i < 4; i++) await api.get('/account');

    const metrics = await scrape(metricsUrl);
    for (const [counted_by, count] of Object.entries({ visit: 1, origin: 2, network: 3, account: 4 }))
      assert.equal(metrics.total(DECISIONS, { verdict: 'admitted', counted_by }), count, counted_by);
  });

  it('show how many writes shared a commit', {
    skip: onPostgres && 'for the embedded store only',
  }, async t => {
    const { app, metricsUrl } = await start(t, { PETSTORE_WRITE_BATCH: '4' });
    const batchesOfFour = (metrics: Metrics) =>
      metrics.total('petstore_commit_batch_size_bucket', { le: '4' }) -
      metrics.total('petstore_commit_batch_size_bucket', { le: '2' });
    const before = await scrape(metricsUrl);
    // A group also ends when its time is over, and this process may stand still for longer.
    const { mock } = t.mock.method(performance, 'now', () => 0);
    await Promise.all(Array.from({ length: 8 }, () => app.db.write(async () => {})));
    mock.restore();
    const after = await scrape(metricsUrl);
    assert.equal(batchesOfFour(after) - batchesOfFour(before), 2);
  });

  it('show how many operations wait for the store', async t => {
    const { app, metricsUrl } = await start(t);
    // The sweeps at start also write.
    await app.sweeper.run();
    const release = await holdWrites(app.db);
    const whileHeld = await scrape(metricsUrl);
    await release();
    assert.ok(whileHeld.total('petstore_database_queue') >= 10, whileHeld.text);
    if (onPostgres) assert.ok(whileHeld.total('petstore_database_connections', { state: 'busy' }) >= 4);
    const after = await scrape(metricsUrl);
    assert.equal(after.total('petstore_database_queue'), 0);
  });
});
