import { ConfigError } from './config-error.ts';
import { keysOf } from './objects.ts';
import {
  type Environment,
  flag,
  type Kind,
  NONE,
  oneOf,
  optional,
  readSettings,
  type Setting,
  setting,
  text,
  type ValuesOf,
  wholeNumber,
} from './settings.ts';

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
  readonly queue: ValuesOf<typeof traceSettings.queue>;
}

export interface Sampler {
  /** The share of new traces that are recorded, from 0 to 1. */
  readonly ratio: number;
  /** Whether the client's sampling decision applies to traces that the client started. */
  readonly isParentBased: boolean;
}

const samplers = {
  always_on: () => ({ ratio: 1, isParentBased: false }),
  always_off: () => ({ ratio: 0, isParentBased: false }),
  traceidratio: (ratio: number) => ({ ratio, isParentBased: false }),
  parentbased_always_on: () => ({ ratio: 1, isParentBased: true }),
  parentbased_always_off: () => ({ ratio: 0, isParentBased: true }),
  parentbased_traceidratio: (ratio: number) => ({ ratio, isParentBased: true }),
} satisfies Record<string, (ratio: number) => Sampler>;

/** Messages do not show the URL: it may contain a password. */
const collectorUrl: Kind<string> = {
  values: 'an http or https URL such as http://127.0.0.1:4318',
  parse: (text, name) => {
    const url = URL.parse(text);
    if (url && /^https?:$/.test(url.protocol)) return url.href;
    throw new ConfigError(`${name} must be ${collectorUrl.values}`);
  },
};

const baseUrl: Kind<string> = {
  values: collectorUrl.values,
  parse: (text, name) => {
    const url = new URL(collectorUrl.parse(text, name));
    url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
    return url.href;
  },
};

const share: Kind<number> = {
  values: 'a number from 0 to 1',
  parse: (text, name) => {
    const ratio = Number(text);
    if (ratio >= 0 && ratio <= 1) return ratio;
    throw new ConfigError(`${name} must be ${share.values}, but is "${text}"`);
  },
};

const flagInAnyCase: Kind<boolean> = {
  values: flag.values,
  parse: (text, name) => flag.parse(text.toLowerCase(), name),
};

/** `name=value` pairs separated by commas, percent-encoded (W3C Baggage). Messages show no value: it may be a token. */
function pairs(isPair: (key: string, value: string) => boolean): Kind<Readonly<Record<string, string>>> {
  const values = 'pairs such as name=value separated by commas, percent-encoded';
  return {
    values,
    parse: (text, name) => {
      const parts = text.split(',').filter(part => part.trim() !== '');
      const entries = parts.map((part, i) => {
        const place = part.indexOf('=');
        try {
          const key = decodeURIComponent(part.slice(0, Math.max(place, 0)).trim());
          const value = decodeURIComponent(part.slice(place + 1).trim());
          if (isPair(key, value)) return [key, value];
        } catch (error) {
          if (!(error instanceof URIError)) throw error;
        }
        throw new ConfigError(`${name} takes ${values}, but number ${i + 1} is not such a pair`);
      });
      return Object.freeze(Object.fromEntries(entries));
    },
  };
}

/** Whether `node:http` accepts the header. */
function isHeader(name: string, value: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

/** A setting that `own` replaces if its variable is set. */
function unless<Value>(own: Setting<Value>, shared: Setting<Value>): Setting<Value> {
  return {
    variables: [...shared.variables, ...own.variables],
    read: environment =>
      (own.variables.some(({ name }) => environment[name] !== undefined) ? own : shared).read(environment),
  };
}

/** A setting of the exporter for all signals, and the same for traces alone. */
function ofExporter<Value>(name: string, kind: Kind<Value>, fallback: string | number, meaning: string) {
  return unless(
    setting(`OTEL_EXPORTER_OTLP_TRACES_${name}`, kind, fallback, 'The same, instead of the one above'),
    setting(`OTEL_EXPORTER_OTLP_${name}`, kind, fallback, meaning),
  );
}

const upTo999999 = wholeNumber(1, 999_999);

/**
 * OpenTelemetry's standard variables (its specification, "Environment Variable Specification" and "OTLP Exporter
 * Configuration"), with the defaults of the standard.
 */
export const traceSettings = {
  url: unless(
    setting(
      'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
      optional(collectorUrl),
      NONE,
      'The whole URL, instead of the one above',
    ),
    setting(
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      optional(baseUrl),
      NONE,
      'Base URL of the collector; `/v1/traces` is added',
    ),
  ),
  headers: ofExporter('HEADERS', pairs(isHeader), NONE, 'Headers of every export: a token, for example'),
  timeout: ofExporter(
    'TIMEOUT',
    upTo999999,
    10_000,
    'Time limit of one export, including its retries, in milliseconds',
  ),
  protocol: ofExporter(
    'PROTOCOL',
    oneOf('http/json'),
    'http/json',
    'The only supported protocol; collectors accept it at the port of `http/protobuf`, 4318',
  ),
  service: setting(
    'OTEL_SERVICE_NAME',
    optional(text('a name')),
    NONE,
    'The name of the service; `petstore` if `OTEL_RESOURCE_ATTRIBUTES` has none either',
  ),
  attributes: setting(
    'OTEL_RESOURCE_ATTRIBUTES',
    pairs(key => key !== ''),
    NONE,
    'Attributes of all spans',
  ),
  sampler: setting(
    'OTEL_TRACES_SAMPLER',
    oneOf(...keysOf(samplers)),
    'parentbased_always_on',
    'Which traces are recorded',
  ),
  ratio: setting(
    'OTEL_TRACES_SAMPLER_ARG',
    share,
    1,
    'The share of new traces, for the two samplers with `ratio` in their names',
  ),
  queue: {
    size: setting(
      'OTEL_BSP_MAX_QUEUE_SIZE',
      upTo999999,
      2_048,
      'Maximum number of spans that wait for export; further ones are dropped',
    ),
    batch: setting(
      'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
      upTo999999,
      512,
      'An export starts when this many spans wait, and has no more than these; not above `OTEL_BSP_MAX_QUEUE_SIZE` …',
    ),
    delay: setting('OTEL_BSP_SCHEDULE_DELAY', upTo999999, 5_000, '… or after this many milliseconds'),
  },
  isDisabled: setting('OTEL_SDK_DISABLED', flagInAnyCase, 'false', '`true` turns the export off'),
  exporter: setting('OTEL_TRACES_EXPORTER', oneOf('otlp', 'none'), 'otlp', '`none` turns the export off'),
};

/**
 * Reads the variables; an empty one counts as unset (OpenTelemetry's specification). Returns `undefined` when nothing is
 * exported: then the others may be for other programs, and are not read. Throws ConfigError.
 */
export function readTraceSettings(environment: Environment): TraceSettings | undefined {
  const set = Object.fromEntries(
    Object.entries(environment).map(([name, text]) => [name, text?.trim() || undefined]),
  );
  const url = traceSettings.url.read(set);
  if (url === undefined || traceSettings.isDisabled.read(set) || traceSettings.exporter.read(set) === 'none')
    return undefined;
  const { headers, timeout, service, attributes, sampler, ratio, queue } = readSettings(traceSettings, set);
  if (queue.batch > queue.size) {
    throw new ConfigError(
      `OTEL_BSP_MAX_EXPORT_BATCH_SIZE must be at most OTEL_BSP_MAX_QUEUE_SIZE, ${queue.size}, but is ${queue.batch}`,
    );
  }
  return Object.freeze({
    url,
    headers,
    timeout,
    resource: Object.freeze({
      'service.name': 'petstore',
      ...attributes,
      ...(service !== undefined && { 'service.name': service }),
    }),
    sampler: samplers[sampler](ratio),
    queue,
  });
}
