import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError, readConfig } from '../../src/config.ts';

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

  const rejected: [name: string, value: string, message: string][] = [
    ['HOST', ' ', 'HOST is empty; unset it for the default, 127.0.0.1'],
    ['PORT', 'abc', 'PORT must be a whole number from 0 to 65535, but is "abc"'],
    ['PORT', '65536', 'PORT must be a whole number from 0 to 65535, but is "65536"'],
    ['PORT', '-1', 'PORT must be a whole number from 0 to 65535, but is "-1"'],
    ['PORT', '80.5', 'PORT must be a whole number from 0 to 65535, but is "80.5"'],
    ['PORT', '1e3', 'PORT must be a whole number from 0 to 65535, but is "1e3"'],
    ['PORT', '', 'PORT is empty; unset it for the default, 8080'],
    ['OPS_PORT', 'abc', 'OPS_PORT must be a whole number from 0 to 65535, but is "abc"'],
    ['OPS_PORT', '65536', 'OPS_PORT must be a whole number from 0 to 65535, but is "65536"'],
    ['OPS_PORT', '-1', 'OPS_PORT must be a whole number from 0 to 65535, but is "-1"'],
    ['OPS_PORT', '', 'OPS_PORT is empty; unset it for the default, none'],
    ['OPS_HOST', ' ', 'OPS_HOST is empty; unset it for the default, 127.0.0.1'],
    ['PETSTORE_DATA', '', 'PETSTORE_DATA is empty; unset it for the default, ./data'],
    [
      'PETSTORE_CONNECTIONS',
      '0',
      'PETSTORE_CONNECTIONS must be a whole number from 1 to 1000000, but is "0"',
    ],
    [
      'PETSTORE_CONNECTIONS_PER_ADDRESS',
      '0',
      'PETSTORE_CONNECTIONS_PER_ADDRESS must be a whole number from 1 to 1000000, but is "0"',
    ],
    [
      'LOG_LEVEL',
      'loud',
      'LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, but is "loud"',
    ],
    [
      'PETSTORE_DATABASE_CONNECTIONS',
      '1',
      'PETSTORE_DATABASE_CONNECTIONS must be a whole number from 2 to 1000, but is "1"',
    ],
    [
      'PETSTORE_DATABASE_TIMEOUT_SECONDS',
      '0',
      'PETSTORE_DATABASE_TIMEOUT_SECONDS must be a whole number from 1 to 3600, but is "0"',
    ],
    [
      'PETSTORE_DATABASE_QUEUE',
      '0',
      'PETSTORE_DATABASE_QUEUE must be a whole number from 1 to 1000000, but is "0"',
    ],
    ['PETSTORE_WRITE_BATCH', '0', 'PETSTORE_WRITE_BATCH must be a whole number from 1 to 65536, but is "0"'],
    ['PETSTORE_KEEP_SUNSET', 'yes', 'PETSTORE_KEEP_SUNSET must be one of true, false, but is "yes"'],
    [
      'PETSTORE_SHUTDOWN_SECONDS',
      '3601',
      'PETSTORE_SHUTDOWN_SECONDS must be a whole number from 0 to 3600, but is "3601"',
    ],
    [
      'PETSTORE_TRUST_PROXY',
      '10.0.0.0/33',
      'PETSTORE_TRUST_PROXY takes addresses or CIDR ranges, such as 127.0.0.1,10.0.0.0/8, but "10.0.0.0/33" is not valid',
    ],
    [
      'PETSTORE_TRUST_PROXY',
      'localhost',
      'PETSTORE_TRUST_PROXY takes addresses or CIDR ranges, such as 127.0.0.1,10.0.0.0/8, but "localhost" is not valid',
    ],
    [
      'PETSTORE_TRUST_PROXY',
      'true',
      'PETSTORE_TRUST_PROXY takes addresses or CIDR ranges, such as 127.0.0.1,10.0.0.0/8, but "true" is not valid',
    ],
    [
      'PETSTORE_TRUST_PROXY',
      '10.0.0.0/8 127.0.0.1',
      'PETSTORE_TRUST_PROXY takes addresses or CIDR ranges, such as 127.0.0.1,10.0.0.0/8, but "10.0.0.0/8 127.0.0.1" is not valid',
    ],
    [
      'PETSTORE_TRUST_PROXY',
      '127.0.0.1,',
      'PETSTORE_TRUST_PROXY takes addresses or CIDR ranges, such as 127.0.0.1,10.0.0.0/8, but "" is not valid',
    ],
    ['PETSTORE_TRUST_PROXY', '', 'PETSTORE_TRUST_PROXY is empty; unset it for the default, none'],
    [
      'PETSTORE_BAN_FORGIVENESS_SECONDS',
      '3601',
      'PETSTORE_BAN_FORGIVENESS_SECONDS must be a whole number from 0 to 3600, but is "3601"',
    ],
    [
      'PETSTORE_BAN_FORGIVENESS_SECONDS',
      '-1',
      'PETSTORE_BAN_FORGIVENESS_SECONDS must be a whole number from 0 to 3600, but is "-1"',
    ],
    [
      'PETSTORE_BAN_FORGIVENESS_SECONDS',
      '0.5',
      'PETSTORE_BAN_FORGIVENESS_SECONDS must be a whole number from 0 to 3600, but is "0.5"',
    ],
    ['PETSTORE_BAN_STRIKES', '0', 'PETSTORE_BAN_STRIKES must be a whole number from 1 to 1000, but is "0"'],
    [
      'PETSTORE_BAN_STRIKES',
      '1001',
      'PETSTORE_BAN_STRIKES must be a whole number from 1 to 1000, but is "1001"',
    ],
    [
      'PETSTORE_BAN_STRIKES_SECONDS',
      '0',
      'PETSTORE_BAN_STRIKES_SECONDS must be a whole number from 1 to 86400, but is "0"',
    ],
    [
      'PETSTORE_BAN_STRIKES_SECONDS',
      '86401',
      'PETSTORE_BAN_STRIKES_SECONDS must be a whole number from 1 to 86400, but is "86401"',
    ],
    [
      'PETSTORE_BAN_DECAY_HOURS',
      '0',
      'PETSTORE_BAN_DECAY_HOURS must be a whole number from 1 to 8760, but is "0"',
    ],
    [
      'PETSTORE_BAN_DECAY_HOURS',
      '8761',
      'PETSTORE_BAN_DECAY_HOURS must be a whole number from 1 to 8760, but is "8761"',
    ],
    ['PETSTORE_EVENT_DAYS', '0', 'PETSTORE_EVENT_DAYS must be a whole number from 1 to 3650, but is "0"'],
    [
      'PETSTORE_STREAMS_PER_KEY',
      '0',
      'PETSTORE_STREAMS_PER_KEY must be a whole number from 1 to 100000, but is "0"',
    ],
    [
      'PETSTORE_BAN_MINUTES',
      '0',
      'PETSTORE_BAN_MINUTES takes whole numbers of minutes from 1 to 525600, such as 1,5,15,60, but "0" is not valid',
    ],
    [
      'PETSTORE_BAN_MINUTES',
      '1,five',
      'PETSTORE_BAN_MINUTES takes whole numbers of minutes from 1 to 525600, such as 1,5,15,60, but "five" is not valid',
    ],
    [
      'PETSTORE_BAN_MINUTES',
      '1,,5',
      'PETSTORE_BAN_MINUTES takes whole numbers of minutes from 1 to 525600, such as 1,5,15,60, but "" is not valid',
    ],
    [
      'PETSTORE_BAN_MINUTES',
      '525601',
      'PETSTORE_BAN_MINUTES takes whole numbers of minutes from 1 to 525600, such as 1,5,15,60, but "525601" is not valid',
    ],
    [
      'PETSTORE_BAN_MINUTES',
      '1.5',
      'PETSTORE_BAN_MINUTES takes whole numbers of minutes from 1 to 525600, such as 1,5,15,60, but "1.5" is not valid',
    ],
    [
      'PETSTORE_BAN_MINUTES',
      '05',
      'PETSTORE_BAN_MINUTES takes whole numbers of minutes from 1 to 525600, such as 1,5,15,60, but "05" is not valid',
    ],
    ['PETSTORE_BAN_MINUTES', ' ', 'PETSTORE_BAN_MINUTES is empty; unset it for the default, 1,5,15,60'],
    ['PETSTORE_BAN_MINUTE', '5', 'PETSTORE_BAN_MINUTE is not a setting; did you mean PETSTORE_BAN_MINUTES?'],
    ['PETSTORE_DTAA', './x', 'PETSTORE_DTAA is not a setting; did you mean PETSTORE_DATA?'],
    [
      'PETSTORE_COLOUR',
      'red',
      'PETSTORE_COLOUR is not a setting; known are PETSTORE_DATA, PETSTORE_WRITE_BATCH, PETSTORE_DATABASE_CONNECTIONS, PETSTORE_DATABASE_TIMEOUT_SECONDS, PETSTORE_DATABASE_QUEUE, PETSTORE_KEEP_SUNSET, PETSTORE_DRAIN_SECONDS, PETSTORE_SHUTDOWN_SECONDS, PETSTORE_CONNECTIONS, PETSTORE_CONNECTIONS_PER_ADDRESS, PETSTORE_TRUST_PROXY, PETSTORE_BAN_FORGIVENESS_SECONDS, PETSTORE_BAN_STRIKES, PETSTORE_BAN_STRIKES_SECONDS, PETSTORE_BAN_MINUTES, PETSTORE_BAN_DECAY_HOURS, PETSTORE_PUBLIC_URL, PETSTORE_EVENT_DAYS, PETSTORE_STREAMS_PER_KEY, PETSTORE_WEBHOOKS_PER_KEY, PETSTORE_WEBHOOK_CONNECTIONS, PETSTORE_WEBHOOK_CONNECTIONS_PER_HOST, PETSTORE_WEBHOOKS_ALLOW_PRIVATE',
    ],
    ['DATABASE_URL', 'postgres://host', NO_DATABASE_URL],
    ['DATABASE_URL', 'mysql://user:secret@host/shop', NO_DATABASE_URL],
    ['DATABASE_URL', 'user:secret@host/shop', NO_DATABASE_URL],
    [
      'REDIS_URL',
      'localhost:6379',
      'REDIS_URL takes URLs such as redis://127.0.0.1:6379 or rediss://user:password@host:6380/0, separated by commas if they are nodes of a cluster, but number 1 is not such a URL',
    ],
    [
      'REDIS_URL',
      'http://:secret@x',
      'REDIS_URL takes URLs such as redis://127.0.0.1:6379 or rediss://user:password@host:6380/0, separated by commas if they are nodes of a cluster, but number 1 is not such a URL',
    ],
    [
      'REDIS_URL',
      'redis://:secret@x/db',
      'REDIS_URL takes URLs such as redis://127.0.0.1:6379 or rediss://user:password@host:6380/0, separated by commas if they are nodes of a cluster, but number 1 is not such a URL',
    ],
    [
      'REDIS_URL',
      'redis://:secret@x?db=1',
      'REDIS_URL takes URLs such as redis://127.0.0.1:6379 or rediss://user:password@host:6380/0, separated by commas if they are nodes of a cluster, but number 1 is not such a URL',
    ],
    [
      'REDIS_URL',
      'redis://',
      'REDIS_URL takes URLs such as redis://127.0.0.1:6379 or rediss://user:password@host:6380/0, separated by commas if they are nodes of a cluster, but number 1 is not such a URL',
    ],
    [
      'REDIS_URL',
      'redis://:secret@a,',
      'REDIS_URL takes URLs such as redis://127.0.0.1:6379 or rediss://user:password@host:6380/0, separated by commas if they are nodes of a cluster, but number 2 is not such a URL',
    ],
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
});
