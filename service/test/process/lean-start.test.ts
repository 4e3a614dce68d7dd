import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { dataDirectory, serve } from '../support/service-process.ts';
import { until } from '../support/until.ts';
import { assertNone } from '../support/values.ts';

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

/** Loaded before the service. Reports the flags of V8 that it sets. */
const reportFlags = `data:text/javascript,${encodeURIComponent(`
  const v8 = process.getBuiltinModule('node:v8');
  const set = v8.setFlagsFromString;
  v8.setFlagsFromString = flag => {
    console.error('flag: ' + flag);
    set(flag);
  };
  process.getBuiltinModule('node:module').syncBuiltinESMExports();
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
    assertNone(loaded, line => unused.some(name => line.includes(name)));
  });

  it('is followed by a collection of its garbage, which a service without requests would keep', async t => {
    const service = await serve(t, dataDirectory(t), { NODE_OPTIONS: `--import ${reportCollection}` });
    let stderr = '';
    service.child.stderr!.on('data', text => {
      stderr += text;
    });
    await until('garbage is collected', () => stderr.includes('Collected'));
  });

  it('limits the garbage of later requests by a flag that V8 has', async t => {
    const service = await serve(t, dataDirectory(t), { NODE_OPTIONS: `--import ${reportFlags}` });
    const { stderr } = await service.end('SIGTERM');
    const [flag] = stderr.match(/(?<=flag: )--heap-growing-percent(?==100$)/m) ?? [];
    assert.ok(flag, stderr);
    const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
    assert.match(known, new RegExp(`^ +${flag} `, 'm'));
  });
});
