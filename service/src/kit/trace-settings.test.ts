import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError } from './config-error.ts';
import { readTraceSettings } from './trace-settings.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

function read(environment: Record<string, string>) {
  const settings = readTraceSettings({ ...ENDPOINT, ...environment });
  assert.ok(settings);
  return settings;
}

describe('the settings of traces', () => {
  it('are undefined without an endpoint, and when the SDK or the exporter is disabled', () => {
    assert.equal(readTraceSettings({}), undefined);
    assert.equal(readTraceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }), undefined);
    assert.equal(readTraceSettings({ OTEL_TRACES_SAMPLER: 'of another program' }), undefined);
    assert.equal(readTraceSettings({ ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }), undefined);
    assert.equal(readTraceSettings({ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }), undefined);
  });

  it('have the defaults of the standard', () => {
    assert.deepEqual(read({}), {
      url: 'http://127.0.0.1:4318/v1/traces',
      headers: {},
      timeout: 10_000,
      resource: { 'service.name': 'petstore' },
      queue: { size: 2_048, batch: 512, delay: 5_000 },
      sampler: { ratio: 1, isParentBased: true },
    });
  });

  it('add the path of traces to the endpoint of all signals, but not to the endpoint of traces', () => {
    const url = (environment: Record<string, string>) => read(environment).url;
    assert.equal(url({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://a:1/base/' }), 'https://a:1/base/v1/traces');
    assert.equal(url({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://b/own' }), 'https://b/own');
  });

  it('for traces override those for all signals', () => {
    const { headers, timeout } = read({
      OTEL_EXPORTER_OTLP_HEADERS: 'a=1',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'b=2%2C3, c = d=e ',
      OTEL_EXPORTER_OTLP_TIMEOUT: '1',
      OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '2',
    });
    assert.deepEqual(headers, { b: '2,3', c: 'd=e' });
    assert.equal(timeout, 2);
  });

  it('take the name of the service from its own variable, or else from the attributes', () => {
    const attributes = { OTEL_RESOURCE_ATTRIBUTES: 'service.name=shop' };
    assert.equal(read(attributes).resource['service.name'], 'shop');
    const both = { ...attributes, OTEL_SERVICE_NAME: 'own' };
    assert.equal(read(both).resource['service.name'], 'own');
  });

  it('accept a batch as large as the queue', () => {
    const { queue } = read({ OTEL_BSP_MAX_QUEUE_SIZE: '7', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '7' });
    assert.deepEqual([queue.size, queue.batch], [7, 7]);
  });

  for (const [name, argument, ratio, isParentBased] of [
    ['always_on', '0.5', 1, false],
    ['always_off', '0.5', 0, false],
    ['traceidratio', '0.5', 0.5, false],
    ['traceidratio', '0', 0, false],
    ['parentbased_always_on', '0.5', 1, true],
    ['parentbased_always_off', '0.5', 0, true],
    ['parentbased_traceidratio', '0.5', 0.5, true],
    ['parentbased_traceidratio', '', 1, true],
  ] as const) {
    it(`accept the sampler ${name} with ${argument || 'no argument'}`, () => {
      const { sampler } = read({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument });
      assert.deepEqual(sampler, { ratio, isParentBased });
    });
  }

  const noPair = (number: number) =>
    new RegExp(`^OTEL_EXPORTER_OTLP_HEADERS takes pairs .* number ${number} is not such a pair`);
  for (const [environment, message] of [
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /^OTEL_EXPORTER_OTLP_ENDPOINT must be an http or/],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'nowhere' }, /^OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be/],
    [
      { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      /^OTEL_EXPORTER_OTLP_PROTOCOL must be one of http\/json, but is "grpc"/,
    ],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=1,secret' }, noPair(2)],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=%zz' }, noPair(1)],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'a b=1' }, noPair(1)],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=1%0A' }, noPair(1)],
    [
      { OTEL_EXPORTER_OTLP_TIMEOUT: '0' },
      /^OTEL_EXPORTER_OTLP_TIMEOUT must be a whole number from 1 to 999999/,
    ],
    [
      { OTEL_BSP_MAX_QUEUE_SIZE: '100' },
      /^OTEL_BSP_MAX_EXPORT_BATCH_SIZE must be at most .* 100, but is 512/,
    ],
    [{ OTEL_BSP_SCHEDULE_DELAY: '-1' }, /^OTEL_BSP_SCHEDULE_DELAY must be a whole number from 1 to 999999/],
    [{ OTEL_RESOURCE_ATTRIBUTES: '=x' }, /^OTEL_RESOURCE_ATTRIBUTES takes pairs/],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, /^OTEL_TRACES_EXPORTER must be one of otlp, none, but is "zipkin"/],
    [{ OTEL_TRACES_SAMPLER: 'some' }, /^OTEL_TRACES_SAMPLER must be one of always_on, .*, but is "some"/],
    [
      { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' },
      /^OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, but is "2"/,
    ],
    [
      { OTEL_EXPORTER_OTLP_TIMEOUT: '1', OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '0' },
      /^OTEL_EXPORTER_OTLP_TRACES_TIMEOUT must be a whole number/,
    ],
    [{ OTEL_SDK_DISABLED: 'yes' }, /^OTEL_SDK_DISABLED must be one of true, false, but is "yes"/],
  ] as const) {
    it(`are rejected: ${Object.entries(environment).join(' ').replace(',', '=')}`, () => {
      const isExpected = (error: unknown) =>
        error instanceof ConfigError && message.test(error.message) && !error.message.includes('secret');
      assert.throws(() => read(environment as Record<string, string>), isExpected);
    });
  }
});
