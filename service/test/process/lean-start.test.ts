import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dataDirectory, serve } from '../support/service-process.ts';

/** Loaded before the service: at the end of the process it lists what was loaded, Node's own modules included. */
const listAtExit = `data:text/javascript,${encodeURIComponent(`
  process.on('exit', () => {
    const packages = Object.keys(process.getBuiltinModule('node:module')._cache);
    console.error([...process.moduleLoadList, ...packages].map(name => 'loaded: ' + name).join('\\n'));
  });
`)}`;

/** What a service on the embedded store has no use for until it is asked for it; all of it is large. */
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
  it('loads nothing large that a request may never need', async t => {
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
});
