import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { Client } from '../support/client.ts';
import { dataDirectory, serve } from '../support/service-process.ts';
import { assertNone } from '../support/values.ts';
import { Collector, tracedTo } from './collector.ts';

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
