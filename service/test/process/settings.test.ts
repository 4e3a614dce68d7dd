import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { type Config, ConfigError, readConfig, settings } from '../../src/config.ts';
import { variablesOf } from '../../src/kit/settings.ts';
import { traceSettings } from '../../src/kit/trace-settings.ts';

const root = join(import.meta.dirname, '../../..');
const documents = globSync(['README.md', 'docs/*.md'], { cwd: root });
const rows = documents.flatMap(file => [
  ...readFileSync(join(root, file), 'utf8').matchAll(/^\| `(\w+)` \| (none|`[^`]*`) \| ([^|]*) \|/gm),
]);

/** The numbers of the documentation, which `npm run settings` writes: its table is the second statement of each limit. */
const numbers = rows.flatMap(([, name, , values]) => {
  const [, min, max] = /^(\d+) to (\d+)/.exec(values!) ?? [];
  return max === undefined ? [] : [{ name: name!, min: Number(min), max: Number(max) }];
});

/** Traces are exported, and the longest queue is longer than any batch. */
const others = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_BSP_MAX_QUEUE_SIZE: '999999' };
/** A batch is not longer than the queue. */
const shortest = { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1' };

const read = (name: string, value: string | number) =>
  readConfig({ ...others, ...(name === 'OTEL_BSP_MAX_QUEUE_SIZE' && shortest), [name]: String(value) });

it('a variable of the command petstore is ignored, because both are used in one shell', () => {
  readConfig({ PETSTORE_URL: 'https://shop.example', PETSTORE_API_KEY: 'psk_1', PETSTORE_PROFILE: 'shop' });
});

function assertRejected(name: string, value: string | number, message: string): void {
  assert.throws(
    () => read(name, value),
    error => error instanceof ConfigError && error.message === message && !inspect(error).includes('secret'),
    `${name}="${value}" is accepted, or the message is not: ${message}`,
  );
}

/** A value of each setting, and what it becomes. */
const values: Record<string, [text: string, value: Partial<Record<keyof Config, unknown>>]> = {
  HOST: ['::1', { host: '::1' }],
  PORT: ['0', { port: 0 }],
  OPS_PORT: ['0', { opsPort: 0 }],
  OPS_HOST: ['::', { opsHost: '::' }],
  LOG_LEVEL: ['warn', { logLevel: 'warn' }],
  PETSTORE_DATA: ['/srv/petstore', { dataDirectory: '/srv/petstore' }],
  DATABASE_URL: [
    'postgresql://shop:secret@db.example/petstore?sslmode=require',
    { databaseUrl: 'postgresql://shop:secret@db.example/petstore?sslmode=require' },
  ],
  PETSTORE_DATABASE_CONNECTIONS: ['2', { databaseConnections: 2 }],
  PETSTORE_DATABASE_TIMEOUT_SECONDS: ['30', { databaseTimeoutSeconds: 30 }],
  PETSTORE_DATABASE_QUEUE: ['1', { databaseQueue: 1 }],
  PETSTORE_WRITE_BATCH: ['1', { writeBatch: 1 }],
  PETSTORE_KEEP_SUNSET: ['true', { keepSunset: true }],
  PETSTORE_DRAIN_SECONDS: ['15', { drainSeconds: 15 }],
  PETSTORE_SHUTDOWN_SECONDS: ['30', { shutdownSeconds: 30 }],
  PETSTORE_CONNECTIONS: ['500', { connections: 500 }],
  PETSTORE_CONNECTIONS_PER_ADDRESS: ['100', { connectionsPerAddress: 100 }],
  PETSTORE_PUBLIC_URL: ['https://shop.example', { publicUrl: 'https://shop.example/' }],
  PETSTORE_TRUST_PROXY: [
    '127.0.0.1, 10.0.0.0/8,fd00::/8',
    { trustedProxies: ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'] },
  ],
  PETSTORE_BAN_FORGIVENESS_SECONDS: ['1', { banRules: { forgiveness: 1_000 } }],
  PETSTORE_BAN_STRIKES: ['1', { banRules: { strikes: 1 } }],
  PETSTORE_BAN_STRIKES_SECONDS: ['10', { banRules: { strikesWithin: 10_000 } }],
  PETSTORE_BAN_MINUTES: ['2, 525600', { banRules: { durations: [120_000, 31_536_000_000] } }],
  PETSTORE_BAN_DECAY_HOURS: ['1', { banRules: { decay: 3_600_000 } }],
  REDIS_URL: [
    'rediss://user:pass@redis-1:6380, rediss://[::1]:6380/0',
    { redisUrls: ['rediss://user:pass@redis-1:6380', 'rediss://[::1]:6380/0'] },
  ],
  PETSTORE_LEAKED_KEYS: ['report', { leakedKeys: 'report' }],
  PETSTORE_REDIS_PREFIX: ['north-1', { redisPrefix: 'north-1' }],
  PETSTORE_EVENT_DAYS: ['7', { eventDays: 7 }],
  PETSTORE_STREAMS_PER_KEY: ['5', { streamsPerKey: 5 }],
  PETSTORE_WEBHOOKS_PER_KEY: ['3', { webhooksPerKey: 3 }],
  PETSTORE_WEBHOOK_CONNECTIONS: ['50', { webhookConnections: 50 }],
  PETSTORE_WEBHOOK_CONNECTIONS_PER_HOST: ['5', { webhookConnectionsPerHost: 5 }],
  PETSTORE_WEBHOOKS_ALLOW_PRIVATE: ['true', { privateWebhooks: true }],
};

const UNSUPPORTED =
  'the service does not support. Supported are application_name, connect_timeout, password, ssl, sslcert, sslkey, sslmode, ' +
  'sslnegotiation, sslrootcert, uselibpqcompat, user, target_session_attrs';
const NO_DATABASE_URL = 'DATABASE_URL must be postgres://user:password@host:port/database';
const variables = [...variablesOf(settings), ...variablesOf(traceSettings)];

describe('the settings', () => {
  it('are those of the documentation, with the defaults that they have', () => {
    assert.deepEqual(
      rows.map(([, name, fallback]) => `${name} ${fallback}`).toSorted(),
      variables
        .map(({ name, default: text }) => `${name} ${text === '' ? 'none' : `\`${text}\``}`)
        .toSorted(),
    );
    assert.ok(numbers.length > 20);
  });

  it('are taken from the environment', () => {
    const names = variablesOf(settings).map(({ name }) => name);
    assert.deepEqual(
      Object.keys(values).toSorted(),
      names.filter(name => !name.endsWith('_FILE')).toSorted(),
    );
    for (const [name, [text, value]] of Object.entries(values)) {
      assert.notDeepEqual(readConfig({ [name]: text }), readConfig({}), name);
      assert.partialDeepStrictEqual(readConfig({ [name]: text }), value);
    }
  });

  it('cannot be changed later', () => {
    const config = readConfig({ PETSTORE_TRUST_PROXY: '::1' });
    const { trustedProxies, banRules, redisUrls } = config;
    for (const part of [config, trustedProxies, banRules, banRules.durations, redisUrls])
      assert.ok(Object.isFrozen(part));
  });

  it('can be set together with the variables of other programs', () => {
    const environment = { PATH: '/bin', PETSTORES: 'x', DATABASE_URL: '', REDIS_URL: undefined };
    assert.deepEqual(readConfig(environment), readConfig({}));
  });

  it('stop the programs quickly on a terminal, unless the drain is set', () => {
    const seconds = (environment: Record<string, string>) =>
      readConfig(environment, { isOnTerminal: true }).drainSeconds;
    assert.deepEqual([seconds({}), seconds({ PETSTORE_DRAIN_SECONDS: '7' })], [0, 7]);
  });

  it('are rejected when they are empty, with their default', () => {
    const may = /^(DATABASE|REDIS)_URL/;
    for (const { name, default: text } of variablesOf(settings).filter(({ name }) => !may.test(name)))
      for (const empty of ['', ' ']) {
        assertRejected(name, empty, `${name} is empty; unset it for the default, ${text || 'none'}`);
      }
  });

  for (const { name, min, max } of numbers) {
    it(`${name} takes each whole number from ${min} to ${max}, and no other`, () => {
      const taken = [min, min + 1, max - 1, max].map(value => JSON.stringify(read(name, value)));
      assert.equal(new Set(taken).size, 4, 'two values have the same effect');
      for (const value of [min - 1, max + 1])
        assertRejected(
          name,
          value,
          `${name} must be a whole number from ${min} to ${max}, but is "${value}"`,
        );
    });
  }

  const PROXY = 'must be an address or a CIDR range, such as 10.0.0.0/8, but is';
  const MINUTES = 'must be a whole number from 1 to 525600, but is';
  const REDIS = 'must be a URL such as redis://127.0.0.1:6379 or rediss://user:password@host:6380/0';
  const ENCODED = 'the user and the password must be percent-encoded: write `%` as `%25`';
  const SENTINELS =
    'redis+sentinel://user:password@host:port,host:port/name, with the name that the sentinels monitor';
  const known = variablesOf(settings).map(({ name }) => name);
  const rejected: [name: string, values: string[], message: string | ((value: string) => string)][] = [
    [
      'PORT',
      ['abc', '80.5', '1e3', '080', '+80', ' 80', '0x50'],
      value => `PORT must be a whole number from 0 to 65535, but is "${value}"`,
    ],
    [
      'LOG_LEVEL',
      ['loud'],
      'LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, but is "loud"',
    ],
    ['PETSTORE_KEEP_SUNSET', ['yes'], 'PETSTORE_KEEP_SUNSET must be one of true, false, but is "yes"'],
    [
      'PETSTORE_TRUST_PROXY',
      ['10.0.0.0/33', 'localhost', 'true', '10.0.0.0/8 127.0.0.1'],
      value => `PETSTORE_TRUST_PROXY ${PROXY} "${value}"`,
    ],
    ['PETSTORE_TRUST_PROXY', ['127.0.0.1,'], `Value 2 of PETSTORE_TRUST_PROXY ${PROXY} ""`],
    ['PETSTORE_BAN_MINUTES', ['05'], `PETSTORE_BAN_MINUTES ${MINUTES} "05"`],
    ['PETSTORE_BAN_MINUTES', ['1,five'], `Value 2 of PETSTORE_BAN_MINUTES ${MINUTES} "five"`],
    ['PETSTORE_BAN_MINUTES', ['1,,5'], `Value 2 of PETSTORE_BAN_MINUTES ${MINUTES} ""`],
    [
      'PETSTORE_BAN_MINUTE',
      ['5'],
      'PETSTORE_BAN_MINUTE is not a setting; did you mean PETSTORE_BAN_MINUTES?',
    ],
    ['PETSTORE_PORT', ['1'], 'PETSTORE_PORT is not a setting; did you mean PORT?'],
    ['PETSTORE_DTAA', ['./x'], 'PETSTORE_DTAA is not a setting; did you mean PETSTORE_DATA?'],
    [
      'PETSTORE_COLOUR',
      ['red'],
      `PETSTORE_COLOUR is not a setting; known are ${known.filter(name => name.startsWith('PETSTORE_')).join(', ')}`,
    ],
    [
      'DATABASE_URL',
      [
        'postgres://host',
        'mysql://user:secret@host/shop',
        'user:secret@host/shop',
        'postgres://user:secret@a:5432,b:port/shop?target_session_attrs=read-write',
        'postgres://user:secret@a,,b/shop?target_session_attrs=read-write',
      ],
      NO_DATABASE_URL,
    ],
    [
      'DATABASE_URL',
      ['postgres://user:secret@a:5432,b:5432/shop'],
      'DATABASE_URL names several hosts: add ?target_session_attrs=read-write, and the service uses the one that is the primary',
    ],
    [
      'DATABASE_URL',
      ['any', 'prefer-standby'].map(kind => `postgres://user:secret@a,b/shop?target_session_attrs=${kind}`),
      'DATABASE_URL: target_session_attrs must be read-write, because the service needs the primary',
    ],
    [
      'DATABASE_URL',
      ['postgres://user:secret@a/shop?keepalives_idle=3'],
      `DATABASE_URL has the parameter "keepalives_idle" that ${UNSUPPORTED}`,
    ],
    [
      'DATABASE_URL',
      ['0', '61', '1.5', '-1', '2s', '', '1&connect_timeout=0'].map(
        seconds => `postgres://user:secret@a/shop?connect_timeout=${seconds}`,
      ),
      'DATABASE_URL: connect_timeout must be a whole number of seconds from 1 to 60',
    ],
    [
      'DATABASE_URL',
      ['postgres://user@a/shop?password=half&secret'],
      `DATABASE_URL has a parameter that ${UNSUPPORTED}`,
    ],
    [
      'REDIS_URL',
      ['localhost:6379', 'http://:secret@x', 'redis://:secret@x/db', 'redis://:secret@x?db=1', 'redis://'],
      `REDIS_URL ${REDIS}`,
    ],
    ['REDIS_URL', ['redis://:secret@a,'], `Value 2 of REDIS_URL ${REDIS}`],
    [
      'REDIS_URL',
      ['redis://:secret%@a', 'redis://secret%zz@a', 'redis://:%e9secret@a'].map(url => `redis://a:1,${url}`),
      `Value 2 of REDIS_URL: ${ENCODED}`,
    ],
    [
      'REDIS_URL',
      ['a:26379,b:26379', 'a:26379,/limits', 'a/limits/x', 'a/limits#x'].map(
        rest => `redis+sentinel://:secret@${rest}`,
      ),
      `REDIS_URL must be ${SENTINELS}`,
    ],
    [
      'REDIS_URL',
      ['redis+sentinel://:secret@a,b/limits?db=1'],
      'REDIS_URL has a parameter that the service does not support. Supported are sentinel_user and sentinel_password',
    ],
    ['REDIS_URL', ['redis+sentinel://:50%@a,b/limits'], `REDIS_URL: ${ENCODED}`],
    [
      'REDIS_URL',
      ['redis://:secret@a,redis://:secret@b/1'],
      'REDIS_URL names several nodes of a cluster, which has only database 0: remove the database number',
    ],
    [
      'PETSTORE_REDIS_PREFIX',
      ['north:1', '{north}', 'x'.repeat(33)],
      value => `PETSTORE_REDIS_PREFIX must be at most 32 letters, digits and hyphens, but is "${value}"`,
    ],
  ];
  for (const [name, values, message] of rejected)
    for (const value of values)
      it(`${name}="${value}" is rejected by name`, () =>
        assertRejected(name, value, typeof message === 'string' ? message : message(value)));
});
