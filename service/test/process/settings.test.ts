import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError, readConfig, settings } from '../../src/config.ts';
import { variablesOf } from '../../src/kit/settings.ts';

const NO_DATABASE_URL = 'DATABASE_URL must be postgres://user:password@host:port/database';

describe('the settings', () => {
  it('have defaults', () => {
    const { dataDirectory, ...rest } = readConfig({});
    assert.match(dataDirectory, /\/data$/);
    assert.deepEqual(rest, {
      host: '127.0.0.1',
      port: 8080,
      opsPort: undefined,
      opsHost: '127.0.0.1',
      connections: 10_000,
      connectionsPerAddress: 1_024,
      publicUrl: '/',
      databaseUrl: undefined,
      databaseConnections: 10,
      databaseTimeoutSeconds: 5,
      databaseQueue: 2_000,
      logLevel: 'info',
      writeBatch: 1024,
      keepSunset: false,
      drainSeconds: 5,
      shutdownSeconds: 10,
      trustedProxies: [],
      banRules: {
        forgiveness: 2_000,
        strikes: 10,
        strikesWithin: 60_000,
        durations: [60_000, 300_000, 900_000, 3_600_000],
        decay: 86_400_000,
      },
      redisUrls: [],
      eventDays: 30,
      streamsPerKey: 20,
      webhooksPerKey: 20,
      webhookConnections: 100,
      webhookConnectionsPerHost: 20,
      privateWebhooks: false,
      traces: undefined,
    });
  });

  it('are taken from the environment', () => {
    const config = readConfig({
      HOST: '::1',
      PORT: '0',
      OPS_PORT: '0',
      OPS_HOST: '::',
      LOG_LEVEL: 'warn',
      PETSTORE_DATA: '/srv/petstore',
      DATABASE_URL: 'postgresql://shop:secret@db.example/petstore?sslmode=require',
      PETSTORE_DATABASE_CONNECTIONS: '2',
      PETSTORE_DATABASE_TIMEOUT_SECONDS: '30',
      PETSTORE_DATABASE_QUEUE: '1',
      PETSTORE_WRITE_BATCH: '1',
      PETSTORE_KEEP_SUNSET: 'true',
      PETSTORE_DRAIN_SECONDS: '15',
      PETSTORE_SHUTDOWN_SECONDS: '30',
      PETSTORE_CONNECTIONS: '500',
      PETSTORE_CONNECTIONS_PER_ADDRESS: '100',
      PETSTORE_PUBLIC_URL: 'https://shop.example',
      PETSTORE_TRUST_PROXY: '127.0.0.1, 10.0.0.0/8,fd00::/8',
      PETSTORE_BAN_FORGIVENESS_SECONDS: '0',
      PETSTORE_BAN_STRIKES: '1',
      PETSTORE_BAN_STRIKES_SECONDS: '10',
      PETSTORE_BAN_MINUTES: '2, 525600',
      PETSTORE_BAN_DECAY_HOURS: '1',
      REDIS_URL: 'rediss://user:pass@redis-1:6380, rediss://[::1]:6380/0',
      PETSTORE_EVENT_DAYS: '7',
      PETSTORE_STREAMS_PER_KEY: '5',
      PETSTORE_WEBHOOKS_PER_KEY: '3',
      PETSTORE_WEBHOOK_CONNECTIONS: '50',
      PETSTORE_WEBHOOK_CONNECTIONS_PER_HOST: '5',
      PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true',
    });
    assert.deepEqual(config, {
      host: '::1',
      port: 0,
      opsPort: 0,
      opsHost: '::',
      connections: 500,
      connectionsPerAddress: 100,
      publicUrl: 'https://shop.example/',
      logLevel: 'warn',
      dataDirectory: '/srv/petstore',
      databaseUrl: 'postgresql://shop:secret@db.example/petstore?sslmode=require',
      databaseConnections: 2,
      databaseTimeoutSeconds: 30,
      databaseQueue: 1,
      writeBatch: 1,
      keepSunset: true,
      drainSeconds: 15,
      shutdownSeconds: 30,
      trustedProxies: ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'],
      banRules: {
        forgiveness: 0,
        strikes: 1,
        strikesWithin: 10_000,
        durations: [120_000, 31_536_000_000],
        decay: 3_600_000,
      },
      redisUrls: ['rediss://user:pass@redis-1:6380', 'rediss://[::1]:6380/0'],
      eventDays: 7,
      streamsPerKey: 5,
      webhooksPerKey: 3,
      webhookConnections: 50,
      webhookConnectionsPerHost: 5,
      privateWebhooks: true,
      traces: undefined,
    });
  });

  it('cannot be changed later', () => {
    const config = readConfig({ PETSTORE_TRUST_PROXY: '::1' });
    for (const part of [
      config,
      config.trustedProxies,
      config.banRules,
      config.banRules.durations,
      config.redisUrls,
    ]) {
      assert.ok(Object.isFrozen(part));
    }
  });

  it('can be set together with the variables of other programs', () => {
    assert.doesNotThrow(() =>
      readConfig({ PATH: '/bin', PETSTORES: 'x', DATABASE_URL: '', REDIS_URL: undefined }),
    );
  });

  const PROXY = 'must be an address or a CIDR range, such as 10.0.0.0/8, but is';
  const MINUTES = 'must be a whole number from 1 to 525600, but is';
  const REDIS = 'must be a URL such as redis://127.0.0.1:6379 or rediss://user:password@host:6380/0';
  const rejected: [name: string, value: string, message: string][] = [
    ['HOST', ' ', 'HOST is empty; unset it for the default, 127.0.0.1'],
    ...['abc', '-1', '80.5', '1e3', '080', '+80', ' 80', '0x50'].map((value): [string, string, string] => [
      'PORT',
      value,
      `PORT must be a whole number from 0 to 65535, but is "${value}"`,
    ]),
    ['PORT', '', 'PORT is empty; unset it for the default, 8080'],
    ['OPS_PORT', 'abc', 'OPS_PORT must be a whole number from 0 to 65535, but is "abc"'],
    ['OPS_PORT', '', 'OPS_PORT is empty; unset it for the default, none'],
    ['PETSTORE_DATA', '', 'PETSTORE_DATA is empty; unset it for the default, ./data'],
    [
      'LOG_LEVEL',
      'loud',
      'LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, but is "loud"',
    ],
    ['PETSTORE_KEEP_SUNSET', 'yes', 'PETSTORE_KEEP_SUNSET must be one of true, false, but is "yes"'],
    ...['10.0.0.0/33', 'localhost', 'true', '10.0.0.0/8 127.0.0.1'].map((value): [string, string, string] => [
      'PETSTORE_TRUST_PROXY',
      value,
      `PETSTORE_TRUST_PROXY ${PROXY} "${value}"`,
    ]),
    ['PETSTORE_TRUST_PROXY', '127.0.0.1,', `Value 2 of PETSTORE_TRUST_PROXY ${PROXY} ""`],
    ['PETSTORE_TRUST_PROXY', '', 'PETSTORE_TRUST_PROXY is empty; unset it for the default, none'],
    ['PETSTORE_BAN_MINUTES', '05', `PETSTORE_BAN_MINUTES ${MINUTES} "05"`],
    ['PETSTORE_BAN_MINUTES', '1,five', `Value 2 of PETSTORE_BAN_MINUTES ${MINUTES} "five"`],
    ['PETSTORE_BAN_MINUTES', '1,,5', `Value 2 of PETSTORE_BAN_MINUTES ${MINUTES} ""`],
    ['PETSTORE_BAN_MINUTES', '1,525601', `Value 2 of PETSTORE_BAN_MINUTES ${MINUTES} "525601"`],
    ['PETSTORE_BAN_MINUTES', ' ', 'PETSTORE_BAN_MINUTES is empty; unset it for the default, 1,5,15,60'],
    ['PETSTORE_BAN_MINUTE', '5', 'PETSTORE_BAN_MINUTE is not a setting; did you mean PETSTORE_BAN_MINUTES?'],
    ['PETSTORE_DTAA', './x', 'PETSTORE_DTAA is not a setting; did you mean PETSTORE_DATA?'],
    [
      'PETSTORE_COLOUR',
      'red',
      `PETSTORE_COLOUR is not a setting; known are ${variablesOf(settings)
        .map(({ name }) => name)
        .filter(name => name.startsWith('PETSTORE_'))
        .join(', ')}`,
    ],
    ['DATABASE_URL', 'postgres://host', NO_DATABASE_URL],
    ['DATABASE_URL', 'mysql://user:secret@host/shop', NO_DATABASE_URL],
    ['DATABASE_URL', 'user:secret@host/shop', NO_DATABASE_URL],
    ...[
      'localhost:6379',
      'http://:secret@x',
      'redis://:secret@x/db',
      'redis://:secret@x?db=1',
      'redis://',
    ].map((value): [string, string, string] => ['REDIS_URL', value, `REDIS_URL ${REDIS}`]),
    ['REDIS_URL', 'redis://:secret@a,', `Value 2 of REDIS_URL ${REDIS}`],
    [
      'REDIS_URL',
      'redis://:secret@a,redis://:secret@b/1',
      'REDIS_URL names several nodes of a cluster, which has only database 0: remove the database number',
    ],
  ];
  for (const [name, value, message] of rejected) {
    it(`${name}="${value}" is rejected by name`, () => {
      assert.throws(
        () => readConfig({ [name]: value }),
        error => error instanceof ConfigError && error.message === message,
      );
    });
  }

  it('stop the programs quickly on a terminal, unless the drain is set', () => {
    const seconds = (environment: Record<string, string>) =>
      readConfig(environment, { isOnTerminal: true }).drainSeconds;
    assert.deepEqual([seconds({}), seconds({ PETSTORE_DRAIN_SECONDS: '7' })], [0, 7]);
  });
});
