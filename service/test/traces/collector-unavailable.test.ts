import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { scrape } from '../support/metrics.ts';
import { dataDirectory, serve } from '../support/service-process.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { Collector, tracedTo } from './collector.ts';

const DROPPED = 'petstore_trace_spans_dropped_total';

async function start(
  t: TestContext,
  environment: Record<string, string> = {},
): Promise<TestApp & { collector: Collector }> {
  const collector = await Collector.start();
  t.after(() => collector.close());
  const shop = await startTestApp(t, {
    environment: { OPS_PORT: '0', ...tracedTo(collector), ...environment },
  });
  return Object.assign(shop, { collector });
}

function dropped({ metricsUrl }: TestApp): Promise<number> {
  return scrape(metricsUrl).then(metrics => metrics.total(DROPPED));
}

function complaints({ logLines }: TestApp): Record<string, unknown>[] {
  return logLines().filter(({ msg }) => msg === 'Spans of traces were lost');
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  const address = server.address();
  await new Promise(resolve => server.close(resolve));
  assert.ok(address !== null && typeof address === 'object');
  return address.port;
}

describe('a failing collector', () => {
  it('affects no request; lost spans are counted, and logged once a minute', async t => {
    const shop = await start(t);
    assert.equal(await dropped(shop), 0);
    shop.collector.handleWith(response => void response.writeHead(400).end());
    for (let i = 0; i < 3; i++) {
      const before = await dropped(shop);
      assert.equal((await shop.api.get('/pets')).status, 200);
      await until('spans are counted as lost', async () => (await dropped(shop)) > before);
    }
    const [line, ...more] = complaints(shop);
    assert.deepEqual([line!.level, line!.reason, more.length], [40, 'Status 400', 0]);
    assert.ok((line!.spans as number) > 0);
  });

  it('leaves no more spans waiting than the queue can hold', async t => {
    const shop = await start(t, {
      OTEL_BSP_MAX_QUEUE_SIZE: '4',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2',
      OTEL_EXPORTER_OTLP_TIMEOUT: '600000',
    });
    // It never responds, so that one export is in flight and the queue fills.
    shop.collector.handleWith(() => {});
    for (let i = 0; i < 6; i++) assert.equal((await shop.api.get('/healthz')).status, 200);
    await until('spans are dropped', async () => (await dropped(shop)) > 0);
    assert.equal(shop.collector.requests.length, 1);
    assert.equal(complaints(shop)[0]!.reason, 'More spans than can be exported');
  });

  it('loses the spans of an export without a response in time', async t => {
    const shop = await start(t, { OTEL_EXPORTER_OTLP_TIMEOUT: '20' });
    shop.collector.handleWith(() => {});
    await shop.api.get('/pets');
    await until('spans are counted as lost', async () => (await dropped(shop)) > 0);
    assert.equal(complaints(shop)[0]!.reason, 'The collector did not respond in time');
  });
});

describe('the shutdown', () => {
  it('exports the waiting spans', async t => {
    const collector = await Collector.start();
    t.after(() => collector.close());
    const service = await serve(t, dataDirectory(t), {
      ...tracedTo(collector),
      OTEL_BSP_SCHEDULE_DELAY: '600000',
    });
    const response = await fetch(`${service.url}/healthz`, { headers: { 'x-request-id': 'last' } });
    await response.text();
    assert.equal(collector.requests.length, 0);
    assert.equal((await service.end('SIGTERM')).code, 0);
    assert.ok(collector.spans.some(({ attributes }) => attributes['petstore.request.id'] === 'last'));
  });

  for (const [name, endpoint] of [
    ['is unavailable', async () => `http://127.0.0.1:${await closedPort()}`],
    [
      'never responds',
      async (t: TestContext) => {
        const collector = await Collector.start();
        t.after(() => collector.close());
        collector.handleWith(() => {});
        return collector.url;
      },
    ],
  ] as const) {
    it(`waits two seconds at most for a collector that ${name}, and logs the lost spans`, async t => {
      const service = await serve(t, dataDirectory(t), {
        OTEL_EXPORTER_OTLP_ENDPOINT: await endpoint(t),
        OTEL_EXPORTER_OTLP_TIMEOUT: '60000',
      });
      await (await fetch(`${service.url}/healthz`)).text();
      const { code, stdout } = await service.end('SIGTERM');
      assert.equal(code, 0);
      assert.match(stdout, /"spans":\d+,"reason":"[^"]+","msg":"Spans of traces were lost"/);
    });
  }
});
