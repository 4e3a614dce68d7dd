import { resolve } from 'node:path';
import { EVENT_DAYS, WEBHOOKS_PER_KEY } from './contract/defaults.ts';
import type { BanRules } from './counters/decide.ts';
import { isAddressRange } from './kit/client-address.ts';
import { HOUR, MINUTE, SECOND } from './kit/clock.ts';
import { ConfigError } from './kit/config-error.ts';
import { readSecretFile } from './kit/secret-file.ts';
import { nearest } from './kit/text.ts';
import { asError } from './kit/thrown.ts';
import { readTraceSettings, type TraceSettings } from './kit/trace-settings.ts';

export { ConfigError };

/** The settings of a process, read once from the environment. */
export interface Config {
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
  /** The port of the metrics; `undefined` collects none. 0 selects any free port. */
  readonly opsPort: number | undefined;
  readonly opsHost: string;
  /** The maximum number of open client connections. */
  readonly connections: number;
  /** The maximum number of open connections from one address. Trusted proxies have no such limit. */
  readonly connectionsPerAddress: number;
  /** The URL at which clients reach the service, with a slash at its end; `/` if the operator has not set it. */
  readonly publicUrl: string;
  /** The directory of the embedded store and of `admin.key`. */
  readonly dataDirectory: string;
  /** The PostgreSQL database; `undefined` selects the embedded store. */
  readonly databaseUrl: string | undefined;
  /** The maximum number of connections to PostgreSQL. */
  readonly databaseConnections: number;
  /** How long a statement may take, in seconds. */
  readonly databaseTimeoutSeconds: number;
  /** The maximum number of operations that wait for the store; further ones get 503. */
  readonly databaseQueue: number;
  readonly logLevel: LogLevel;
  /** The maximum number of write operations that share one commit to disk. */
  readonly writeBatch: number;
  /** Serve operations past their sunset date instead of rejecting them with 410. */
  readonly keepSunset: boolean;
  /** How long the service still accepts requests after the signal to stop, so that proxies can move their traffic, in seconds. */
  readonly drainSeconds: number;
  /** How long requests in flight may take to finish at shutdown, in seconds. */
  readonly shutdownSeconds: number;
  /** The proxies whose `X-Forwarded-For` is trusted: addresses and CIDR ranges. */
  readonly trustedProxies: readonly string[];
  readonly banRules: BanRules;
  /**
   * The Redis server with the limits that replicas share, or several nodes of a Redis cluster, which name its other nodes.
   * Empty if each process counts by itself.
   */
  readonly redisUrls: readonly string[];
  /** The number of days for which events and finished webhook deliveries are retained. */
  readonly eventDays: number;
  /** The maximum number of open event streams of one API key. */
  readonly streamsPerKey: number;
  /** The maximum number of webhooks of one API key. */
  readonly webhooksPerKey: number;
  /** The maximum number of open connections of this process to webhook endpoints, in total and to one host. */
  readonly webhookConnections: number;
  readonly webhookConnectionsPerHost: number;
  /** Whether webhooks may have private addresses and plain HTTP, for development. */
  readonly privateWebhooks: boolean;
  /** The export of spans; `undefined` records none. */
  readonly traces: TraceSettings | undefined;
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

type LogLevel = (typeof logLevels)[number];

type Environment = Readonly<Record<string, string | undefined>>;

const knownSettings: readonly string[] = [
  'PETSTORE_DATA',
  'PETSTORE_WRITE_BATCH',
  'PETSTORE_DATABASE_CONNECTIONS',
  'PETSTORE_DATABASE_TIMEOUT_SECONDS',
  'PETSTORE_DATABASE_QUEUE',
  'PETSTORE_KEEP_SUNSET',
  'PETSTORE_DRAIN_SECONDS',
  'PETSTORE_SHUTDOWN_SECONDS',
  'PETSTORE_CONNECTIONS',
  'PETSTORE_CONNECTIONS_PER_ADDRESS',
  'PETSTORE_TRUST_PROXY',
  'PETSTORE_BAN_FORGIVENESS_SECONDS',
  'PETSTORE_BAN_STRIKES',
  'PETSTORE_BAN_STRIKES_SECONDS',
  'PETSTORE_BAN_MINUTES',
  'PETSTORE_BAN_DECAY_HOURS',
  'PETSTORE_PUBLIC_URL',
  'PETSTORE_EVENT_DAYS',
  'PETSTORE_STREAMS_PER_KEY',
  'PETSTORE_WEBHOOKS_PER_KEY',
  'PETSTORE_WEBHOOK_CONNECTIONS',
  'PETSTORE_WEBHOOK_CONNECTIONS_PER_HOST',
  'PETSTORE_WEBHOOKS_ALLOW_PRIVATE',
];

/**
 * Reads and checks every setting. Throws ConfigError for an invalid value. The default of `drainSeconds` is 0 on a terminal, so
 * that Ctrl-C is quick.
 */
export function readConfig(environment: Environment, { isOnTerminal = false } = {}): Config {
  rejectUnknown(environment);
  return Object.freeze({
    host: text(environment, 'HOST', '127.0.0.1'),
    port: wholeNumber(environment, 'PORT', 8080, 0, 65_535),
    opsPort:
      environment.OPS_PORT === undefined ? undefined : wholeNumber(environment, 'OPS_PORT', '', 0, 65_535),
    opsHost: text(environment, 'OPS_HOST', '127.0.0.1'),
    connections: wholeNumber(environment, 'PETSTORE_CONNECTIONS', 10_000, 1, 1_000_000),
    connectionsPerAddress: wholeNumber(environment, 'PETSTORE_CONNECTIONS_PER_ADDRESS', 1_024, 1, 1_000_000),
    publicUrl: publicUrl(environment),
    dataDirectory: resolve(text(environment, 'PETSTORE_DATA', './data')),
    databaseUrl: databaseUrl(environment),
    databaseConnections: wholeNumber(environment, 'PETSTORE_DATABASE_CONNECTIONS', 10, 2, 1_000),
    databaseTimeoutSeconds: wholeNumber(environment, 'PETSTORE_DATABASE_TIMEOUT_SECONDS', 5, 1, 3_600),
    databaseQueue: wholeNumber(environment, 'PETSTORE_DATABASE_QUEUE', 2_000, 1, 1_000_000),
    logLevel: oneOf(environment, 'LOG_LEVEL', 'info', logLevels),
    writeBatch: wholeNumber(environment, 'PETSTORE_WRITE_BATCH', 1024, 1, 65_536),
    keepSunset: flag(environment, 'PETSTORE_KEEP_SUNSET'),
    drainSeconds: wholeNumber(environment, 'PETSTORE_DRAIN_SECONDS', isOnTerminal ? 0 : 5, 0, 3_600),
    shutdownSeconds: wholeNumber(environment, 'PETSTORE_SHUTDOWN_SECONDS', 10, 0, 3_600),
    trustedProxies: list(environment, 'PETSTORE_TRUST_PROXY', '', isAddressRange, ADDRESS_RANGES),
    banRules: readBanRules(environment),
    redisUrls: readRedisUrls(environment),
    eventDays: wholeNumber(environment, 'PETSTORE_EVENT_DAYS', EVENT_DAYS, 1, 3_650),
    streamsPerKey: wholeNumber(environment, 'PETSTORE_STREAMS_PER_KEY', 20, 1, 100_000),
    webhooksPerKey: wholeNumber(environment, 'PETSTORE_WEBHOOKS_PER_KEY', WEBHOOKS_PER_KEY, 1, 100_000),
    webhookConnections: wholeNumber(environment, 'PETSTORE_WEBHOOK_CONNECTIONS', 100, 1, 10_000),
    webhookConnectionsPerHost: wholeNumber(
      environment,
      'PETSTORE_WEBHOOK_CONNECTIONS_PER_HOST',
      20,
      1,
      10_000,
    ),
    privateWebhooks: flag(environment, 'PETSTORE_WEBHOOKS_ALLOW_PRIVATE'),
    traces: readTraceSettings(environment),
  });
}

const ADDRESS_RANGES = 'addresses or CIDR ranges, such as 127.0.0.1,10.0.0.0/8';

function readBanRules(environment: Environment): BanRules {
  const minutes = list(environment, 'PETSTORE_BAN_MINUTES', '1,5,15,60', isMinutes, BAN_MINUTES);
  return Object.freeze({
    forgiveness: wholeNumber(environment, 'PETSTORE_BAN_FORGIVENESS_SECONDS', 2, 0, 3_600) * SECOND,
    strikes: wholeNumber(environment, 'PETSTORE_BAN_STRIKES', 10, 1, 1_000),
    strikesWithin: wholeNumber(environment, 'PETSTORE_BAN_STRIKES_SECONDS', 60, 1, 86_400) * SECOND,
    durations: Object.freeze(minutes.map(text => Number(text) * MINUTE)),
    decay: wholeNumber(environment, 'PETSTORE_BAN_DECAY_HOURS', 24, 1, 8_760) * HOUR,
  });
}

const BAN_MINUTES = 'whole numbers of minutes from 1 to 525600, such as 1,5,15,60';

function isMinutes(text: string): boolean {
  return /^[1-9]\d{0,5}$/.test(text) && Number(text) <= 525_600;
}

/** Messages do not show the value, which may contain a password. */
function readRedisUrls(environment: Environment): readonly string[] {
  const { value, source } = secret(environment, 'REDIS_URL');
  const urls = value ? value.split(',').map(text => text.trim()) : [];
  const wrong = urls.findIndex(url => !isRedisUrl(url));
  if (wrong >= 0) {
    throw new ConfigError(
      `${source} takes URLs such as redis://127.0.0.1:6379 or rediss://user:password@host:6380/0, separated by commas ` +
        `if they are nodes of a cluster, but number ${wrong + 1} is not such a URL`,
    );
  }
  const undecodable = urls.findIndex(url => !isPercentEncoded(new URL(url)));
  if (undecodable >= 0) {
    throw new ConfigError(
      `The user and the password of URL number ${undecodable + 1} in ${source} must be percent-encoded: write \`%\` as \`%25\``,
    );
  }
  if (urls.length > 1 && urls.some(url => Number(new URL(url).pathname.slice(1)) > 0)) {
    throw new ConfigError(
      `${source} names several nodes of a cluster, which has only database 0: remove the database number`,
    );
  }
  return Object.freeze(urls);
}

/** Whether user and password can be decoded. */
function isPercentEncoded({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

function isRedisUrl(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    ['redis:', 'rediss:'].includes(url.protocol) &&
    url.hostname !== '' &&
    /^(\/\d{0,5})?$/.test(url.pathname) &&
    url.search + url.hash === ''
  );
}

function rejectUnknown(environment: Environment): void {
  for (const name of Object.keys(environment)) {
    if (!name.startsWith('PETSTORE_') || knownSettings.includes(name)) continue;
    const near = nearest(name, knownSettings);
    throw new ConfigError(
      `${name} is not a setting${near ? `; did you mean ${near}?` : `; known are ${knownSettings.join(', ')}`}`,
    );
  }
}

/** Messages do not show the URL, which may contain a password. */
function databaseUrl(environment: Environment): string | undefined {
  const { value, source } = secret(environment, 'DATABASE_URL');
  if (!value) return undefined;
  const url = URL.parse(value);
  if (url && /^postgres(ql)?:$/.test(url.protocol) && url.hostname !== '' && url.pathname.length > 1)
    return url.href;
  throw new ConfigError(`${source} must be postgres://user:password@host:port/database`);
}

/** A path is allowed, for a proxy that serves the service below it. Without a slash at its end, URLs would not resolve below it. */
function publicUrl(environment: Environment): string {
  const value = text(environment, 'PETSTORE_PUBLIC_URL', '');
  if (value === '') return '/';
  const url = URL.parse(value);
  const isPlain = url && !/[?#]/.test(value) && url.username + url.password === '';
  if (isPlain && /^https?:$/.test(url.protocol)) return url.href.endsWith('/') ? url.href : `${url.href}/`;
  throw new ConfigError(
    'PETSTORE_PUBLIC_URL must be the http or https URL at which clients reach the service, without user, password, query and ' +
      'fragment, such as https://shop.example',
  );
}

/** Reads a setting that may contain a password, from its variable or a file; `source` is its name in messages. */
function secret(
  environment: Environment,
  name: 'DATABASE_URL' | 'REDIS_URL',
): { value: string | undefined; source: string } {
  const path = environment[`${name}_FILE`];
  if (path === undefined) return { value: environment[name], source: name };
  if (path === '') throw new ConfigError(`${name}_FILE is empty: set it to the name of a file, or unset it`);
  if (environment[name]) {
    throw new ConfigError(`${name} and ${name}_FILE are both set: unset one of them`);
  }
  try {
    return { value: readSecretFile(path), source: `${name} in ${path}` };
  } catch (error) {
    throw new ConfigError(
      `${name}_FILE names ${path}, which cannot be used: ${asError(error).message}. It must be a file that this user ` +
        `can read, with the value of ${name} in it`,
    );
  }
}

function text(environment: Environment, name: string, fallback: string): string {
  const value = environment[name];
  if (value === undefined) return fallback;
  if (value.trim() === '')
    throw new ConfigError(`${name} is empty; unset it for the default, ${fallback || 'none'}`);
  return value;
}

function wholeNumber(
  environment: Environment,
  name: string,
  fallback: number | '',
  min: number,
  max: number,
): number {
  const value = text(environment, name, String(fallback));
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= min && number <= max) return number;
  throw new ConfigError(`${name} must be a whole number from ${min} to ${max}, but is "${value}"`);
}

/** Texts separated by commas, all of which must pass `check`; `what` describes them in the message. */
function list(
  environment: Environment,
  name: string,
  fallback: string,
  check: (text: string) => boolean,
  what: string,
): readonly string[] {
  const value = environment[name] === undefined ? fallback : text(environment, name, fallback);
  const texts = value.split(',').map(part => part.trim());
  if (value === '') return Object.freeze([]);
  const wrong = texts.find(part => !check(part));
  if (wrong === undefined) return Object.freeze(texts);
  throw new ConfigError(`${name} takes ${what}, but "${wrong}" is not valid`);
}

function flag(environment: Environment, name: string): boolean {
  return oneOf(environment, name, 'false', ['true', 'false']) === 'true';
}

function oneOf<const Choice extends string>(
  environment: Environment,
  name: string,
  fallback: Choice,
  choices: readonly Choice[],
): Choice {
  const value = text(environment, name, fallback);
  const choice = choices.find(candidate => candidate === value);
  if (choice === undefined)
    throw new ConfigError(`${name} must be one of ${choices.join(', ')}, but is "${value}"`);
  return choice;
}
