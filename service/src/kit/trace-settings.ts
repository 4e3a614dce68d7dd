import { ConfigError } from './config-error.ts';

/** Where spans are exported to, and which. */
export interface TraceSettings {
  /** The URL that spans are posted to, as OTLP in JSON. */
  readonly url: string;
  /** Sent with every export; they may hold a token. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long an export may take, in milliseconds, its repetitions included. */
  readonly timeout: number;
  /** `service.name`, and what else identifies the process. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: Sampler;
}

export interface Sampler {
  /** The share of new traces that are recorded, from 0 to 1. */
  readonly ratio: number;
  /** Whether the caller's decision holds for the traces that callers began. */
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
  return Object.freeze({
    url: urlOf(endpointName, endpoint),
    headers: pairsOf(headersName, headers),
    timeout: wholeNumber(timeoutName, timeout ?? '10000'),
    resource: Object.freeze({
      'service.name': 'petstore',
      ...pairsOf('OTEL_RESOURCE_ATTRIBUTES', read('OTEL_RESOURCE_ATTRIBUTES')),
      ...(read('OTEL_SERVICE_NAME') && { 'service.name': read('OTEL_SERVICE_NAME')! }),
    }),
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

/** The endpoint of all signals leads to that of traces; one for traces alone is used as it is. It may hold a password. */
function urlOf(name: string, value: string): string {
  const url = URL.parse(value);
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new ConfigError(`${name} must be an http or https URL such as http://127.0.0.1:4318`);
  }
  if (!name.includes('_TRACES_')) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url.href;
}

/** `name=value` separated by commas, percent-encoded (W3C Baggage). A value may be a token, so messages show none. */
function pairsOf(name: string, value: string | undefined): Readonly<Record<string, string>> {
  const pairs = value === undefined ? [] : value.split(',').map(pair => pair.trim());
  const entries = pairs
    .filter(pair => pair !== '')
    .map((pair, i) => {
      const place = pair.indexOf('=');
      try {
        const key = decodeURIComponent(pair.slice(0, place).trim());
        if (place > 0 && key !== '') return [key, decodeURIComponent(pair.slice(place + 1).trim())];
      } catch (error) {
        if (!(error instanceof URIError)) throw error;
      }
      throw new ConfigError(
        `${name} takes pairs such as name=value separated by commas, percent-encoded, but number ${i + 1} is none`,
      );
    });
  return Object.freeze(Object.fromEntries(entries));
}

function wholeNumber(name: string, value: string): number {
  const number = Number(value);
  if (/^\d{1,7}$/.test(value) && number > 0) return number;
  throw new ConfigError(
    `${name} must be a whole number of milliseconds from 1 to 9999999, but is "${value}"`,
  );
}

function samplerOf(name = 'parentbased_always_on', argument = '1'): Sampler {
  requireOneOf('OTEL_TRACES_SAMPLER', name, Object.keys(samplers));
  return samplers[name]!(() => {
    const ratio = Number(argument);
    if (ratio >= 0 && ratio <= 1) return ratio;
    throw new ConfigError(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, but is "${argument}"`);
  });
}
