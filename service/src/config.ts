import { resolve } from 'node:path';
import { EVENT_DAYS, WEBHOOKS_PER_KEY } from './contract/defaults.ts';
import { isAddressRange } from './kit/client-address.ts';
import { HOUR, MINUTE, SECOND } from './kit/clock.ts';
import { ConfigError } from './kit/config-error.ts';
import { postgresUrl } from './kit/postgres-url.ts';
import { redisUrls } from './kit/redis-url.ts';
import {
  type Environment,
  flag,
  listOf,
  NONE,
  oneOf,
  optional,
  readSettings,
  secret,
  setting,
  text,
  type ValuesOf,
  variablesOf,
  wholeNumber,
} from './kit/settings.ts';
import { nearest } from './kit/text.ts';
import { readTraceSettings, type TraceSettings } from './kit/trace-settings.ts';
import { publicUrl } from './kit/url-settings.ts';

export { ConfigError };

const address = text('an address');
const port = wholeNumber(0, 65_535);
const directory = { values: 'a directory', parse: (path: string) => resolve(path) };
const addressRange = text('an address or a CIDR range, such as 10.0.0.0/8', isAddressRange);
const logLevel = oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent');

/**
 * Every setting: its variable, what it takes, its default and its meaning. The table in the documentation is made of it
 * (`npm run settings`).
 */
export const settings = {
  host: setting('HOST', address, '127.0.0.1', 'Address to listen on'),
  port: setting('PORT', port, 8_080, 'Port to listen on; 0 picks a free one'),
  opsPort: setting(
    'OPS_PORT',
    optional(port),
    NONE,
    'Port of the metrics at `/metrics`; 0 picks a free one; without it there are no metrics',
  ),
  opsHost: setting(
    'OPS_HOST',
    address,
    '127.0.0.1',
    'Address of the metrics; every client that reaches it can read them',
  ),
  publicUrl: setting(
    'PETSTORE_PUBLIC_URL',
    publicUrl,
    NONE,
    'URL at which clients reach the service, such as `https://shop.example`: the `source` of events, so that `source` and ' +
      '`subject` together are the URL of a resource, and the first server in the contract; without it both are `/`',
  ),
  connections: setting(
    'PETSTORE_CONNECTIONS',
    wholeNumber(1, 1_000_000),
    10_000,
    'Maximum number of open client connections, but never more than half of the files that the process may open; requests on ' +
      'further ones get 503 `too_many_connections`',
  ),
  connectionsPerAddress: setting(
    'PETSTORE_CONNECTIONS_PER_ADDRESS',
    wholeNumber(1, 1_000_000),
    1_024,
    'Maximum number of open connections per address, except for trusted proxies; an IPv6 /64 network is one address; requests ' +
      'on further ones get 503 `too_many_connections`',
  ),
  dataDirectory: setting(
    'PETSTORE_DATA',
    directory,
    './data',
    'Directory of the embedded store and of `admin.key`',
  ),
  databaseUrl: secret(
    'DATABASE_URL',
    optional(postgresUrl),
    'Uses PostgreSQL 15 or newer instead of the embedded store',
  ),
  databaseConnections: setting(
    'PETSTORE_DATABASE_CONNECTIONS',
    wholeNumber(2, 1_000),
    10,
    'Maximum number of connections to PostgreSQL, in addition to the one that listens for notifications',
  ),
  databaseTimeoutSeconds: setting(
    'PETSTORE_DATABASE_TIMEOUT_SECONDS',
    wholeNumber(1, 3_600),
    5,
    'Time limit of a statement; when the server hangs, the response is a 503 at most 3 s later',
  ),
  databaseQueue: setting(
    'PETSTORE_DATABASE_QUEUE',
    wholeNumber(1, 1_000_000),
    2_000,
    'Maximum number of operations that wait for the store; further ones are rejected with 503 at once',
  ),
  logLevel: setting('LOG_LEVEL', logLevel, 'info', 'The least severe level of log lines that are written'),
  writeBatch: setting(
    'PETSTORE_WRITE_BATCH',
    wholeNumber(1, 65_536),
    1_024,
    'Maximum number of write operations that share one commit, at most 64 on PostgreSQL; 1 gives each its own commit',
  ),
  keepSunset: setting(
    'PETSTORE_KEEP_SUNSET',
    flag,
    'false',
    '`true` keeps operations available after their sunset date',
  ),
  drainSeconds: setting(
    'PETSTORE_DRAIN_SECONDS',
    wholeNumber(0, 3_600),
    5,
    'Time after SIGTERM in which the service still serves requests while `/readyz` returns 503, so that proxies switch over; ' +
      '0 by default on a terminal',
  ),
  shutdownSeconds: setting(
    'PETSTORE_SHUTDOWN_SECONDS',
    wholeNumber(0, 3_600),
    10,
    'Time that requests in flight then have to finish',
  ),
  trustedProxies: setting(
    'PETSTORE_TRUST_PROXY',
    listOf(addressRange),
    NONE,
    'Proxies whose `X-Forwarded-For` the service trusts',
  ),
  /** In milliseconds. */
  banRules: {
    forgiveness: setting(
      'PETSTORE_BAN_FORGIVENESS_SECONDS',
      wholeNumber(0, 3_600, SECOND),
      2,
      'Time after a first 429 in which rejected requests do not count, because they may have been in flight',
    ),
    strikes: setting(
      'PETSTORE_BAN_STRIKES',
      wholeNumber(1, 1_000),
      10,
      'Number of rejected requests after that which start a ban …',
    ),
    strikesWithin: setting(
      'PETSTORE_BAN_STRIKES_SECONDS',
      wholeNumber(1, 86_400, SECOND),
      60,
      '… when they arrive within this time',
    ),
    durations: setting(
      'PETSTORE_BAN_MINUTES',
      listOf(wholeNumber(1, 525_600, MINUTE)),
      '1,5,15,60',
      'Duration of the first ban, the second, and so on',
    ),
    decay: setting(
      'PETSTORE_BAN_DECAY_HOURS',
      wholeNumber(1, 8_760, HOUR),
      24,
      'Time without a ban after which the durations start again',
    ),
  },
  leakedKeys: setting(
    'PETSTORE_LEAKED_KEYS',
    oneOf('revoke', 'report'),
    'revoke',
    'What `POST /keys/revoke-leaked` does with the keys of leaked secrets: `revoke` ends them, `report` only appends an event, at most ' +
      'once a day for each key',
  ),
  redisUrls: secret(
    'REDIS_URL',
    redisUrls,
    'Redis (6.2 or newer) in which replicas share limits; several URLs are nodes of a cluster',
  ),
  redisPrefix: setting(
    'PETSTORE_REDIS_PREFIX',
    optional(text('at most 32 letters, digits and hyphens', name => /^[A-Za-z\d-]{1,32}$/.test(name))),
    NONE,
    'Begins the names of all keys in Redis, followed by a colon, so that several shops can share one',
  ),
  eventDays: setting(
    'PETSTORE_EVENT_DAYS',
    wholeNumber(1, 3_650),
    EVENT_DAYS,
    'Days for which the service retains events, finished webhook deliveries, and the pending ones of a disabled webhook',
  ),
  streamsPerKey: setting(
    'PETSTORE_STREAMS_PER_KEY',
    wholeNumber(1, 100_000),
    20,
    'Maximum number of open event streams per API key, on each replica',
  ),
  webhooksPerKey: setting(
    'PETSTORE_WEBHOOKS_PER_KEY',
    wholeNumber(1, 100_000),
    WEBHOOKS_PER_KEY,
    'Maximum number of webhooks per API key',
  ),
  webhookConnections: setting(
    'PETSTORE_WEBHOOK_CONNECTIONS',
    wholeNumber(1, 10_000),
    100,
    'Maximum number of connections to webhook endpoints, on each replica',
  ),
  webhookConnectionsPerHost: setting(
    'PETSTORE_WEBHOOK_CONNECTIONS_PER_HOST',
    wholeNumber(1, 10_000),
    20,
    'The same for one host, on all its ports',
  ),
  privateWebhooks: setting(
    'PETSTORE_WEBHOOKS_ALLOW_PRIVATE',
    flag,
    'false',
    '`true` allows webhooks to private addresses and over plain HTTP, for development',
  ),
};

/** The settings of a process, read once from the environment. */
export interface Config extends ValuesOf<typeof settings> {
  /** The export of spans; `undefined` records none. */
  readonly traces: TraceSettings | undefined;
}

/**
 * Reads and checks every setting. Throws ConfigError for an invalid value. The default of `drainSeconds` is 0 on a terminal, so
 * that Ctrl-C is quick.
 */
export function readConfig(environment: Environment, { isOnTerminal = false } = {}): Config {
  rejectUnknown(environment);
  const values = readSettings(
    settings,
    isOnTerminal ? { PETSTORE_DRAIN_SECONDS: '0', ...environment } : environment,
  );
  return Object.freeze({ ...values, traces: readTraceSettings(environment) });
}

const PREFIX = 'PETSTORE_';

/** What the command `petstore` reads. A shell in which it is used can also run the commands of the service. */
const OF_THE_COMMAND = ['PETSTORE_URL', 'PETSTORE_API_KEY', 'PETSTORE_PROFILE'];

/** Only names with the prefix: the environment has variables of other programs. */
function rejectUnknown(environment: Environment): void {
  const names = variablesOf(settings).map(({ name }) => name);
  const known = names.filter(name => name.startsWith(PREFIX));
  for (const name of Object.keys(environment)) {
    if (!name.startsWith(PREFIX) || [...known, ...OF_THE_COMMAND].includes(name)) continue;
    const near = names.find(setting => setting === name.slice(PREFIX.length)) ?? nearest(name, known);
    throw new ConfigError(
      `${name} is not a setting${near ? `; did you mean ${near}?` : `; known are ${known.join(', ')}`}`,
    );
  }
}
