import { ConfigError } from './config-error.ts';

/** The settings of the export of spans. */
export interface TraceSettings {
  /** The URL to which spans are posted, as OTLP in JSON. */
  readonly url: string;
  /** Headers of every export. They may contain a token. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long an export may take, in milliseconds, including its retries. */
  readonly timeout: number;
  /** `service.name`, and other attributes that identify the process. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: Sampler;
  readonly queue: SpanQueue;
}

/** The limits of the queue of spans to export. */
interface SpanQueue {
  /** The maximum number of spans in the queue; further ones are dropped. */
  readonly size: number;
  /** The maximum number of spans of one export. It starts when the queue has this many, or after `delay` milliseconds. */
  readonly batch: number;
  readonly delay: number;
}

export interface Sampler {
  /** The share of new traces that are recorded, from 0 to 1. */
  readonly ratio: number;
  /** Whether the client's sampling decision applies to traces that the client started. */
  readonly isParentBased: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

const samplers: Readonly<Record<string, (argument: () => number) => Sampler>> = {
  always_on: () => ({ ratio: 1, isParentBased: false }),
  always_off: () => ({ ratio: 0, isParentBased: false }),
  traceidratio: argument => ({ ratio: argument(), isParentBased: false }),
  parentbased_always_on: () => ({ ratio: 1, isParentBased: true }),
  parentbased_always_off: () => ({ ratio: 0, isParentBased: true }),
  parentbased_traceidratio: argument => ({ ratio: argument(), isParentBased: true }),
};

/**
 * Reads OpenTelemetry's standard variables (its specification, "Environment Variable Specification" and "OTLP Exporter
 * Configuration"); an empty one counts as unset. Returns `undefined` when nothing is exported. Throws ConfigError.
 */
export function readTraceSettings(environment: Environment): TraceSettings | undefined {
  const read = (name: string) => environment[name]?.trim() || undefined;
  const ofTraces = (name: string): [name: string, value: string | undefined] => {
    const own = `OTEL_EXPORTER_OTLP_TRACES_${name}`;
    const shared = `OTEL_EXPORTER_OTLP_${name}`;
    return read(own) === undefined ? [shared, read(shared)] : [own, read(own)];
  };
  const [endpointName, endpoint] = ofTraces('ENDPOINT');
  if (endpoint === undefined || isDisabled(read) || read('OTEL_TRACES_EXPORTER') === 'none') return undefined;
  requireOneOf('OTEL_TRACES_EXPORTER', read('OTEL_TRACES_EXPORTER'), ['otlp', 'none']);
  const [protocolName, protocol] = ofTraces('PROTOCOL');
  requireOneOf(protocolName, protocol, ['http/json']);
  const [headersName, headers] = ofTraces('HEADERS');
  const [timeoutName, timeout] = ofTraces('TIMEOUT');
  const service = read('OTEL_SERVICE_NAME');
  return Object.freeze({
    url: urlOf(endpointName, endpoint),
    headers: pairsOf(headersName, headers, isHeader),
    timeout: wholeNumber(timeoutName, timeout ?? '10000', MILLISECONDS),
    resource: Object.freeze({
      'service.name': 'petstore',
      ...pairsOf('OTEL_RESOURCE_ATTRIBUTES', read('OTEL_RESOURCE_ATTRIBUTES')),
      ...(service && { 'service.name': service }),
    }),
    queue: queueOf(read),
    sampler: samplerOf(read('OTEL_TRACES_SAMPLER'), read('OTEL_TRACES_SAMPLER_ARG')),
  });
}

function isDisabled(read: (name: string) => string | undefined): boolean {
  const value = read('OTEL_SDK_DISABLED')?.toLowerCase();
  requireOneOf('OTEL_SDK_DISABLED', value, ['true', 'false']);
  return value === 'true';
}

function requireOneOf(name: string, value: string | undefined, choices: readonly string[]): void {
  if (value === undefined || choices.includes(value)) return;
  throw new ConfigError(`${name} must be ${choices.join(' or ')}, but is "${value}"`);
}

/** Adds the path of traces to the endpoint of all signals; an endpoint for traces stays unchanged. It may contain a password. */
function urlOf(name: string, value: string): string {
  const url = URL.parse(value);
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new ConfigError(`${name} must be an http or https URL such as http://127.0.0.1:4318`);
  }
  if (!name.includes('_TRACES_')) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url.href;
}

/** Parses `name=value` pairs separated by commas, percent-encoded (W3C Baggage). Messages show no value: it may be a token. */
function pairsOf(
  name: string,
  value: string | undefined,
  isPair = (key: string, _value: string) => key !== '',
): Readonly<Record<string, string>> {
  const pairs = value === undefined ? [] : value.split(',').map(pair => pair.trim());
  const entries = pairs
    .filter(pair => pair !== '')
    .map((pair, i) => {
      const place = pair.indexOf('=');
      try {
        const key = decodeURIComponent(pair.slice(0, Math.max(place, 0)).trim());
        const text = decodeURIComponent(pair.slice(place + 1).trim());
        if (isPair(key, text)) return [key, text];
      } catch (error) {
        if (!(error instanceof URIError)) throw error;
      }
      throw new ConfigError(
        `${name} takes pairs such as name=value separated by commas, percent-encoded, but number ${i + 1} is not such a pair`,
      );
    });
  return Object.freeze(Object.fromEntries(entries));
}

/** Whether `node:http` accepts the header. */
function isHeader(name: string, value: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

/** The defaults are the standard's ("Batch Span Processor"). */
function queueOf(read: (name: string) => string | undefined): SpanQueue {
  const setting = (name: string, fallback: string, what: string) =>
    wholeNumber(name, read(name) ?? fallback, what);
  const queue = {
    size: setting('OTEL_BSP_MAX_QUEUE_SIZE', '2048', 'spans'),
    batch: setting('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '512', 'spans'),
    delay: setting('OTEL_BSP_SCHEDULE_DELAY', '5000', MILLISECONDS),
  };
  if (queue.batch <= queue.size) return Object.freeze(queue);
  throw new ConfigError(
    `OTEL_BSP_MAX_EXPORT_BATCH_SIZE must be at most OTEL_BSP_MAX_QUEUE_SIZE, ${queue.size}, but is ${queue.batch}`,
  );
}

const MILLISECONDS = 'milliseconds';

function wholeNumber(name: string, value: string, what: string): number {
  const number = Number(value);
  if (/^\d{1,6}$/.test(value) && number > 0) return number;
  throw new ConfigError(`${name} must be a whole number of ${what} from 1 to 999999, but is "${value}"`);
}

function samplerOf(name = 'parentbased_always_on', argument = '1'): Sampler {
  requireOneOf('OTEL_TRACES_SAMPLER', name, Object.keys(samplers));
  return samplers[name]!(() => {
    const ratio = Number(argument);
    if (ratio >= 0 && ratio <= 1) return ratio;
    throw new ConfigError(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, but is "${argument}"`);
  });
}
