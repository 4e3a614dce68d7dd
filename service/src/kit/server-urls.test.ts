import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectTimeoutOf, postgresServers, postgresUrl } from './postgres-url.ts';
import { redisTarget, redisUrls } from './redis-url.ts';

describe('the URL of a database', () => {
  const servers = (text: string) => postgresServers(postgresUrl.parse(text, 'DATABASE_URL'));

  it('names one server', () => {
    assert.deepEqual(servers('postgres://user:pass@db/shop?sslmode=verify-full'), {
      urls: ['postgres://user:pass@db/shop?sslmode=verify-full'],
      mustWrite: false,
    });
  });

  it('may state how long it may take to connect, in seconds', () => {
    const timeout = (parameter: string) =>
      connectTimeoutOf(postgresUrl.parse(`postgres://db/shop${parameter}`, 'DATABASE_URL'));
    assert.deepEqual(['', '?connect_timeout=1', '?connect_timeout=60'].map(timeout), [2_000, 1_000, 60_000]);
  });

  it('names several servers, each with the same credentials and parameters', () => {
    const several =
      'postgresql://user:p%2Ca@a:5433,b,[::1]:5434/shop?target_session_attrs=read-write&sslmode=disable';
    assert.deepEqual(servers(several), {
      urls: ['a:5433', 'b', '[::1]:5434'].map(host => `postgresql://user:p%2Ca@${host}/shop?sslmode=disable`),
      mustWrite: true,
    });
  });
});

describe('the URLs of Redis', () => {
  const target = (text: string) => redisTarget(redisUrls.parse(text, 'REDIS_URL'));
  const server = { host: 'a', port: 6379, username: undefined, password: 'p', tls: undefined };

  it('name one server', () => assert.deepEqual(target('redis://:p@a/3'), { kind: 'server', server, db: 3 }));

  it('name nodes of a cluster', () => {
    const nodes = [server, { ...server, host: '::1', port: 1, password: undefined, tls: {} }];
    assert.deepEqual(target('redis://:p@a, rediss://[::1]:1'), { kind: 'cluster', nodes });
  });

  it('name sentinels, their credentials, and those of the servers that they monitor', () => {
    const { host: _, port: __, ...ofServer } = server;
    const sentinel = { username: 'w', password: 'q%', tls: undefined };
    assert.deepEqual(
      target('redis+sentinel://:p@a:1, b/the%20limits/2?sentinel_user=w&sentinel_password=q%25'),
      {
        kind: 'sentinel',
        name: 'the limits',
        db: 2,
        server: ofServer,
        sentinels: [
          { ...sentinel, host: 'a', port: 1 },
          { ...sentinel, host: 'b', port: 26_379 },
        ],
      },
    );
    const encrypted = target('rediss+sentinel://a/limits');
    assert.ok(encrypted.kind === 'sentinel' && encrypted.server.tls && encrypted.sentinels[0]!.tls);
  });
});
