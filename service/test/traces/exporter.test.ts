import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ReadableSpan, type SpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { MINUTE, SECOND, systemClock } from '../../src/kit/clock.ts';
import type { TraceSettings } from '../../src/kit/trace-settings.ts';
import { BoundedProcessor } from '../../src/ops/tracing/bounded-processor.ts';
import { Exporter } from '../../src/ops/tracing/exporter.ts';
import { OtlpTracing } from '../../src/ops/tracing/otlp-tracing.ts';
import { Client } from '../support/client.ts';
import { listenLocally } from '../support/local-server.ts';
import { replaceDelay } from '../support/replace-delay.ts';
import { dataDirectory, serve } from '../support/service-process.ts';
import { inTime, until } from '../support/until.ts';
import { assertNone, valuesOf } from '../support/values.ts';
import { Collector, tracedTo } from './collector.ts';

/** Ended spans, without a processor that exports them. */
function endedSpans(count: number): ReadableSpan[] {
  const spans: ReadableSpan[] = [];
  const done = async () => {};
  const processor = { onStart: () => {}, onEnd: span => void spans.push(span) } as Partial<SpanProcessor>;
  const provider = new TracerProvider({
    spanProcessors: [{ ...processor, forceFlush: done, shutdown: done } as SpanProcessor],
  });
  for (let i = 0; i < count; i++) provider.getTracer('test').startSpan(`span ${i}`).end();
  return spans;
}

async function startCollector(t: TestContext): Promise<Collector> {
  const collector = await Collector.start();
  t.after(() => collector.close());
  return collector;
}

/** A pause that takes no time. */
async function noPause(signal: AbortSignal): Promise<void> {
  await nextTurn();
  signal.throwIfAborted();
}

/** A pause that only the end of the export ends. */
async function endlessPause(signal: AbortSignal): Promise<void> {
  await once(signal, 'abort');
  signal.throwIfAborted();
}

function exporterTo(t: TestContext, url: string, timeout = MINUTE, pause = noPause) {
  const pauses: number[] = [];
  const lost: [spans: number, reason: string][] = [];
  const exporter = new Exporter(
    { url, headers: {}, timeout },
    (spans, reason) => void lost.push([spans, reason]),
    (milliseconds, _, { signal }) => {
      pauses.push(milliseconds);
      return pause(signal);
    },
  );
  t.after(() => exporter.shutdown());
  const send = (spans: number) =>
    new Promise<number>(resolve => exporter.export(endedSpans(spans), ({ code }) => resolve(code)));
  return { exporter, pauses, lost, send };
}

/** A collector that responds with these statuses in turn, and 200 after them; 0 breaks the connection. */
async function collectorWith(t: TestContext, ...statuses: number[]): Promise<Collector> {
  const collector = await startCollector(t);
  collector.handleWith(response => {
    const status = statuses.shift() ?? 200;
    if (status === 0) response.destroy();
    else response.writeHead(status).end('{}');
  });
  return collector;
}

describe('an export of spans', () => {
  it('is tried again after a busy response or a broken connection, after pauses that double', async t => {
    const collector = await collectorWith(t, 429, 502, 503, 504, 0);
    const { pauses, lost, send } = exporterTo(t, collector.url);
    assert.equal(await send(2), 0);
    assert.deepEqual(
      pauses,
      [1, 2, 4, 8, 16].map(seconds => seconds * SECOND),
    );
    assert.equal(lost.length, 0);
    const [first, ...again] = collector.requests.map(({ text }) => text);
    assert.deepEqual(again, Array(5).fill(first));
  });

  it('is tried again when the connection breaks in the middle of a response', async t => {
    const collector = await startCollector(t);
    collector.handleWith(response => {
      response.writeHead(200, { 'content-length': 2 }).write('{', () => response.destroy());
      collector.handleWith(response => void response.writeHead(200).end('{}'));
    });
    const { pauses, send } = exporterTo(t, collector.url);
    assert.equal(await inTime('the end of the export', send(1), 10), 0);
    assert.deepEqual(pauses, [SECOND]);
  });

  it('is not tried again after another status: all its spans are lost', async t => {
    for (const status of [301, 400, 401, 404, 500, 501]) {
      const collector = await collectorWith(t, status);
      const { pauses, lost, send } = exporterTo(t, collector.url);
      assert.equal(await send(3), 1);
      assert.deepEqual([lost, pauses], [[[3, `Status ${status}`]], []]);
    }
  });

  it('ends at its deadline, and at a shutdown during a pause, with the last reason', async t => {
    const collector = await startCollector(t);
    collector.handleWith(() => {});
    const silent = exporterTo(t, collector.url, 20);
    assert.equal(await silent.send(2), 1);
    assert.deepEqual(silent.lost, [[2, 'The collector did not respond in time']]);
    collector.handleWith(response => void response.writeHead(503).end());
    const busy = exporterTo(t, collector.url, MINUTE, endlessPause);
    const sent = busy.send(2);
    await until('the pause', () => busy.pauses.length === 1);
    await busy.exporter.shutdown();
    assert.equal(await sent, 1);
    assert.deepEqual(busy.lost, [[2, 'Status 503']]);
  });

  it('keeps its connection for the next one', async t => {
    const collector = await startCollector(t);
    const sockets = new Set<unknown>();
    collector.handleWith(response => {
      sockets.add(response.socket);
      response.writeHead(200).end('{}');
    });
    const { send } = exporterTo(t, collector.url);
    for (let i = 0; i < 3; i++) assert.equal(await send(1), 0);
    assert.equal(sockets.size, 1);
  });

  it('to an URL with https is encrypted', async t => {
    const first = Promise.withResolvers<number>();
    const server = createServer(socket =>
      socket.once('data', bytes => {
        first.resolve(bytes[0]!);
        socket.destroy();
      }),
    );
    const url = await listenLocally(t, server);
    const { exporter, send } = exporterTo(t, url.replace('http:', 'https:'), MINUTE, endlessPause);
    const sent = send(1);
    // The type of a record of TLS that begins a handshake (RFC 8446 §5.1).
    assert.equal(await inTime('the first byte', first.promise, 10), 22);
    await exporter.shutdown();
    assert.equal(await sent, 1);
  });

  it('leaves no connection open at a shutdown', async t => {
    const collector = await startCollector(t);
    const sockets: Socket[] = [];
    const onSocket = (message: unknown) => void sockets.push((message as { socket: Socket }).socket);
    subscribe('net.client.socket', onSocket);
    t.after(() => unsubscribe('net.client.socket', onSocket));
    const { exporter, send } = exporterTo(t, collector.url);
    assert.equal(await send(1), 0);
    // The agent keeps a connection a moment after its response.
    await nextTurn();
    assert.deepEqual(valuesOf(sockets, 'destroyed'), [false], 'it is kept for the next export');
    await exporter.shutdown();
    assert.deepEqual(valuesOf(sockets, 'destroyed'), [true]);
  });
});

it('the queue of spans has room again after each export, and loses exactly those beyond its size', () => {
  const waiting: ReadableSpan[] = [];
  let exported = 0;
  let lost = 0;
  let flush = () => {};
  const processor = new BoundedProcessor(
    exporter => {
      flush = () => exporter.export(waiting.splice(0, 2), () => {});
      return { onEnd: span => void waiting.push(span) } as SpanProcessor;
    },
    {
      exporter: {
        export: spans => {
          exported += spans.length;
        },
        shutdown: async () => {},
      },
      most: 4,
      onDrop: () => void lost++,
    },
  );
  const [span] = endedSpans(1);
  for (let round = 1; round <= 5; round++) {
    for (let i = 0; i < 5; i++) processor.onEnd(span!);
    assert.deepEqual([waiting.length, lost], [4, round]);
    while (waiting.length > 0) flush();
    assert.equal(exported, 4 * round);
  }
  for (let i = 0; i < 4; i++) processor.onEnd(span!);
  flush();
  for (let i = 0; i < 3; i++) processor.onEnd(span!);
  assert.deepEqual([waiting.length, lost], [4, 6], 'two have left the queue');
});

/** Tracing to a collector, without a service. */
async function tracing(t: TestContext, collector: Collector, queue: Partial<TraceSettings['queue']> = {}) {
  const losses: [spans: number, reason: string][] = [];
  const otlp = new OtlpTracing({
    settings: {
      url: collector.url,
      headers: {},
      timeout: MINUTE,
      resource: {},
      sampler: { ratio: 1, isParentBased: true },
      queue: { size: 8, batch: 2, delay: 1, ...queue },
    },
    onLoss: (spans, reason) => void losses.push([spans, reason]),
  });
  t.after(() => otlp.close());
  const record = (count: number, attributes = {}) => {
    for (let i = 0; i < count; i++)
      otlp.begin(`span ${i}`, { kind: 'internal', parent: undefined, attributes: () => attributes }).end();
  };
  return { otlp, losses, record };
}

/** Gives the last exports a minute instead of two seconds, because a slow machine can need longer. */
function allowSlowEnd(t: TestContext): void {
  replaceDelay(t, 2 * SECOND, MINUTE);
}

describe('tracing', () => {
  it('exports several queues of spans, in batches, and long texts only in part', async t => {
    const collector = await startCollector(t);
    const { otlp, losses, record } = await tracing(t, collector, { size: 4 });
    for (let queue = 1; queue <= 5; queue++) {
      record(4, { 'url.path': 'x'.repeat(3_000) });
      await until('the queue is exported', () => collector.spans.length === 4 * queue);
    }
    assert.deepEqual([otlp.dropped, losses], [0, []]);
    for (const { text } of collector.requests) assert.ok(text.split('"spanId"').length <= 3);
    assert.equal(String(collector.spans[0]!.attributes['url.path']).length, 2_048);
  });

  it('reports the number of lost spans at most once a minute, each only once', async t => {
    const collector = await startCollector(t);
    collector.handleWith(() => {});
    const { otlp, losses, record } = await tracing(t, collector, { delay: MINUTE });
    let now = systemClock.now();
    t.mock.method(systemClock, 'now', () => now);
    const reason = 'More spans than can be exported';
    // The first two leave the queue at once, in an export that does not end.
    record(2 + 8 + 3);
    assert.deepEqual(losses, [[1, reason]]);
    now += MINUTE;
    record(2);
    assert.deepEqual(losses.slice(1), [[4 - 1, reason]]);
    now += MINUTE - 1;
    record(1);
    assert.equal(losses.length, 2);
    assert.equal(otlp.dropped, 6);
    collector.handleWith(response => void response.writeHead(200).end('{}'));
  });

  it('ends the spans of work that throws, and of a command without a response as an error', async t => {
    const collector = await startCollector(t);
    const { otlp } = await tracing(t, collector);
    const parent = otlp.begin('gate', { kind: 'server', parent: undefined, attributes: () => ({}) });
    assert.throws(() => otlp.record(parent, 'broken', () => assert.fail()));
    otlp.record(parent, 'decision', () => {
      for (const [command, isResponded] of [
        ['GET', true],
        ['EVALSHA', false],
      ] as const)
        otlp.onRedisCommand(command)!(isResponded);
    });
    parent.end();
    allowSlowEnd(t);
    await otlp.close();
    const ended = collector.spans.map(({ name, attributes }) => [name, attributes['error.type']]);
    assert.deepEqual(ended, [
      ['broken', undefined],
      ['GET', undefined],
      ['EVALSHA', 'unanswered'],
      ['decision', undefined],
      ['gate', undefined],
    ]);
  });

  it('sends at most four exports at once when it ends', async t => {
    const collector = await startCollector(t);
    const held: (() => void)[] = [];
    collector.handleWith(response => void held.push(() => response.writeHead(200).end('{}')));
    const { otlp, record } = await tracing(t, collector, { batch: 1, delay: MINUTE });
    record(8);
    allowSlowEnd(t);
    const closing = otlp.close();
    await collector.has(4);
    for (let i = 0; i < 20; i++) await nextTurn();
    assert.equal(collector.requests.length, 4);
    collector.handleWith(response => void response.writeHead(200).end('{}'));
    for (const respond of held) respond();
    await closing;
    assert.deepEqual([collector.spans.length, otlp.dropped], [8, 0]);
  });
});

/** The files that a service had loaded at its end, after some requests. */
async function loadedFiles(t: TestContext, environment: Record<string, string>): Promise<string[]> {
  const directory = dataDirectory(t);
  const list = join(directory, 'loaded.json');
  const service = await serve(t, directory, {
    ...environment,
    NODE_OPTIONS: `--import=${join(import.meta.dirname, 'list-loaded.mjs')}`,
    LIST_LOADED: list,
  });
  const api = new Client(service.url, service.adminKey);
  t.after(() => api.close());
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  assert.equal((await api.post('/categories', { name: 'Dogs' }, { traceparent })).status, 201);
  assert.equal((await api.get('/events')).status, 200);
  assert.equal((await service.end('SIGTERM')).code, 0);
  return JSON.parse(readFileSync(list, 'utf8'));
}

const ofTracing = /@opentelemetry|ops\/tracing/;

it('without an endpoint for traces no module of the exporter is loaded', async t => {
  const collector = await Collector.start();
  t.after(() => collector.close());
  const [off, on] = await Promise.all([loadedFiles(t, {}), loadedFiles(t, tracedTo(collector))]);
  // Checks that the list is not simply empty.
  assert.ok(
    on.some(file => file.includes('@opentelemetry/sdk-trace')),
    String(on.length),
  );
  assert.ok(on.some(file => file.includes('ops/tracing/otlp-tracing.ts')));
  assertNone(off, file => ofTracing.test(file));
});
