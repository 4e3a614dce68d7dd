import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dataDirectory, serve } from '../support/service-process.ts';
import { until } from '../support/until.ts';

/** Loaded before the service. At the end of the process it lists the loaded modules, including those of Node.js. */
const listAtExit = `data:text/javascript,${encodeURIComponent(`
  process.on('exit', () => {
    const packages = Object.keys(process.getBuiltinModule('node:module')._cache);
    console.error([...process.moduleLoadList, ...packages].map(name => 'loaded: ' + name).join('\\n'));
  });
`)}`;

/** Loaded before the service. Reports that garbage was collected on request, and not because the heap grew. */
const reportCollection = `data:text/javascript,${encodeURIComponent(`
  const { constants, PerformanceObserver } = process.getBuiltinModule('node:perf_hooks');
  new PerformanceObserver(list => {
    const { NODE_PERFORMANCE_GC_MAJOR, NODE_PERFORMANCE_GC_FLAGS_FORCED } = constants;
    const isRequested = ({ detail: { kind, flags } }) =>
      kind === NODE_PERFORMANCE_GC_MAJOR && (flags & NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0;
    if (list.getEntries().some(isRequested)) console.error('Collected');
  }).observe({ entryTypes: ['gc'] });
`)}`;

/** Large modules that a service on the embedded store needs only for some requests. */
const unused = [
  // The implementation of fetch. An `import` of a value from node:http loads it.
  'internal/deps/undici/undici',
  '@fastify/ajv-compiler/',
  'fast-json-stringify-compiler/',
  'node_modules/ioredis/',
  'node_modules/pg/',
  'node_modules/yaml/',
  'node_modules/prom-client/',
  'node_modules/@opentelemetry/',
];

describe('the start of the service', () => {
  it('loads no large module that a request may never need', async t => {
    const service = await serve(t, dataDirectory(t), { NODE_OPTIONS: `--import ${listAtExit}` });
    const { stderr } = await service.end('SIGTERM');
    const loaded = stderr.split('\n').filter(line => line.startsWith('loaded: '));
    assert.ok(
      loaded.some(line => line.includes('node_modules/fastify/')),
      stderr,
    );
    assert.deepEqual(
      loaded.filter(line => unused.some(name => line.includes(name))),
      [],
    );
  });

  it('is followed by a collection of its garbage, which a service without requests would keep', async t => {
    const service = await serve(t, dataDirectory(t), { NODE_OPTIONS: `--import ${reportCollection}` });
    let stderr = '';
    service.child.stderr!.on('data', text => {
      stderr += text;
    });
    await until('garbage is collected', () => stderr.includes('Collected'));
  });
});
