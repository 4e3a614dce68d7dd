import assert from 'node:assert/strict';
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import type https from 'node:https';
import type { Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { listenLocally } from '../../../test/support/local-server.ts';
import { MINUTE, SECOND } from '../../kit/clock.ts';
import { type ConnectionLimits, Connections, hostOf } from './connections.ts';

describe('connections', () => {
  it('are limited in total, for all hosts and keys together', () => {
    const connections = new Connections({ total: 5, perHost: 5 });
    assert.equal(connections.take({ host: 'a', keyId: 1 }, 2), 2);
    assert.equal(connections.take({ host: 'b', keyId: 2 }, 2), 2);
    assert.equal(connections.take({ host: 'c', keyId: 3 }, 2), 1);
    assert.equal(connections.take({ host: 'd', keyId: 4 }, 2), 0);
    connections.free({ host: 'b', keyId: 2 }, 2);
    assert.equal(connections.take({ host: 'd', keyId: 4 }, 9), 2);
  });

  it('are limited for each host, for the webhooks of all keys together', () => {
    const connections = new Connections({ total: 100, perHost: 3 });
    assert.equal(connections.take({ host: 'a', keyId: 1 }, 2), 2);
    assert.equal(connections.take({ host: 'a', keyId: 2 }, 2), 1);
    assert.equal(connections.take({ host: 'a', keyId: 3 }, 2), 0);
    assert.equal(connections.take({ host: 'b', keyId: 3 }, 2), 2);
  });

  it('are limited for the webhooks of one key, to half of all', () => {
    const connections = new Connections({ total: 5, perHost: 5 });
    assert.equal(connections.take({ host: 'a', keyId: 1 }, 2), 2);
    assert.equal(connections.take({ host: 'b', keyId: 1 }, 2), 1);
    assert.equal(connections.take({ host: 'c', keyId: 2 }, 5), 2);
    const single = new Connections({ total: 1, perHost: 1 });
    assert.equal(single.take({ host: 'a', keyId: 1 }, 1), 1);
  });

  it('are not taken for a webhook that already has its maximum', () => {
    const connections = new Connections({ total: 5, perHost: 5 });
    assert.equal(connections.take({ host: 'a', keyId: 1 }, -6), 0);
    assert.equal(connections.take({ host: 'a', keyId: 1 }, 3), 3);
  });
});

describe('a waiter', () => {
  const setting = (limits: ConnectionLimits) => {
    const connections = new Connections(limits);
    const served: string[] = [];
    const busy = new Set<string>();
    const wait = (name: string, host: string, keyId: number) => {
      const onTaken = () => void served.push(name);
      connections.wait({ destination: { host, keyId }, isReady: () => !busy.has(name), onTaken }, true);
    };
    return { connections, served, busy, wait };
  };

  it('for a full host gets the next connection to it, before later waiters', () => {
    const { connections, served, wait } = setting({ total: 100, perHost: 2 });
    const full = { host: 'full', keyId: 1 };
    assert.equal(connections.take(full, 9), 2);
    wait('first', 'full', 2);
    wait('second', 'full', 3);
    connections.free(full, 1);
    assert.deepEqual(served, ['first']);
    connections.free(full, 1);
    assert.deepEqual(served, ['first', 'second']);
    assert.equal(connections.take(full, 1), 0, 'waiters have taken what was freed');
  });

  it('for a full host or key is passed by those for other hosts and keys', () => {
    const { connections, served, wait } = setting({ total: 6, perHost: 3 });
    assert.equal(connections.take({ host: 'full', keyId: 1 }, 9), 3);
    assert.equal(connections.take({ host: 'other', keyId: 2 }, 3), 3);
    wait('same host', 'full', 3);
    wait('same key', 'third', 1);
    wait('free', 'third', 4);
    connections.free({ host: 'other', keyId: 2 }, 1);
    assert.deepEqual(served, ['free']);
  });

  it('that cannot use a connection yet is passed, and keeps its place', () => {
    const { connections, served, busy, wait } = setting({ total: 100, perHost: 1 });
    const full = { host: 'full', keyId: 1 };
    connections.take(full, 1);
    busy.add('first');
    for (const name of ['first', 'second', 'third']) wait(name, 'full', 1);
    connections.free(full, 1);
    assert.deepEqual(served, ['second']);
    busy.clear();
    connections.free(full, 1);
    assert.deepEqual(served, ['second', 'first']);
  });

  it('has one place in the queue, and none after it has left', () => {
    const { connections, served, wait } = setting({ total: 2, perHost: 2 });
    const onTaken = () => void served.push('waiter');
    const waiter = { destination: { host: 'a', keyId: 1 }, isReady: () => true, onTaken };
    connections.take({ host: 'b', keyId: 2 }, 1);
    connections.take({ host: 'b', keyId: 3 }, 1);
    for (const waits of [true, true]) connections.wait(waiter, waits);
    wait('later', 'a', 4);
    connections.free({ host: 'b', keyId: 2 }, 1);
    connections.free({ host: 'b', keyId: 3 }, 1);
    assert.deepEqual(served, ['waiter', 'later']);
    for (const waits of [true, false]) connections.wait(waiter, waits);
    connections.free({ host: 'a', keyId: 1 }, 1);
    assert.equal(served.length, 2);
  });
});

/** Connections to some origins of one host. `request` returns the number of the connection that it used. */
async function opened(t: TestContext, limits: ConnectionLimits, origins = 1) {
  let now = 0;
  const connections = new Connections(limits, () => now);
  const sockets: Socket[] = [];
  t.after(() => connections.close());
  const urls: URL[] = [];
  for (let i = 0; i < origins; i++) {
    const server = http.createServer((_, response) => response.end());
    urls.push(new URL(await listenLocally(t, server)));
  }
  const begin = async (place = 0) => {
    const connection = connections.open(urls[place]!);
    const request = http.request(urls[place]!, { agent: connection.agent }).end();
    const closed = once(request, 'close');
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    if (!sockets.includes(response.socket)) sockets.push(response.socket);
    const number = sockets.indexOf(response.socket) + 1;
    return async () => {
      await response.resume().toArray();
      await closed;
      connections.keep(connection);
      return number;
    };
  };
  const request = async (place?: number) => (await begin(place))();
  /** The numbers of the open connections. */
  const open = () => sockets.flatMap(({ destroyed }, i) => (destroyed ? [] : [i + 1]));
  const advance = (time: number) => {
    now += time;
  };
  return { connections, sockets, open, begin, request, advance };
}

describe('a kept connection', () => {
  it('serves the next request to its origin, and no other origin', async t => {
    const { connections, request } = await opened(t, { total: 10, perHost: 10 }, 2);
    assert.deepEqual([await request(0), await request(0), await request(1), await request(0)], [1, 1, 2, 1]);
    const other = new URL('http://127.0.0.1:1/');
    assert.equal(connections.open(other).origin, other.origin);
  });

  it('is the one that was used last, so that those which are not needed end after 4 s without use', async t => {
    const { connections, begin, request, sockets, open } = await opened(t, { total: 10, perHost: 10 });
    const ends = [await begin(), await begin()];
    for (const end of ends) await end();
    assert.deepEqual([await request(), await request()], [2, 2]);
    assert.deepEqual(
      sockets.map(({ timeout }) => timeout),
      [4 * SECOND, 4 * SECOND],
    );
    connections.close();
    assert.deepEqual(open(), []);
  });

  it('does not resume TLS sessions, so that each verifies the certificate', () => {
    const { agent } = new Connections({ total: 1, perHost: 1 }).open(new URL('https://hooks.example/'));
    assert.equal((agent as https.Agent).options.maxCachedSessions, 0);
  });

  it('is used for a minute: then it is closed, and a new one looks up the name again', async t => {
    const { request, begin, advance, open } = await opened(t, { total: 10, perHost: 10 });
    await request();
    advance(MINUTE - 1);
    assert.equal(await request(), 1);
    advance(1);
    assert.equal(await request(), 2, 'an old idle connection is not used');
    assert.deepEqual(open(), [2]);
    const end = await begin();
    advance(MINUTE);
    assert.equal(await end(), 2);
    assert.deepEqual(open(), [], 'it is closed after its last request');
  });

  it('that was closed is replaced', async t => {
    const { request, sockets } = await opened(t, { total: 10, perHost: 10 });
    await request();
    const closed = once(sockets[0]!, 'close');
    sockets[0]!.destroy();
    await closed;
    assert.equal(await request(), 2);
  });

  for (const [limit, limits] of [
    ['the total', { total: 2, perHost: 9 }],
    ['the limit of its host', { total: 9, perHost: 2 }],
  ] as const) {
    it(`counts against ${limit}: the oldest is closed when a new one needs its place`, async t => {
      const { connections, request, open } = await opened(t, limits, 3);
      const taken = async (place: number) => {
        const destination = { host: '127.0.0.1', keyId: place };
        assert.equal(connections.take(destination, 1), 1);
        const number = await request(place);
        connections.free(destination, 1);
        return number;
      };
      for (const place of [0, 1, 2]) await taken(place);
      assert.deepEqual(open(), [2, 3]);
      assert.equal(await taken(1), 2);
      assert.equal(await taken(0), 4);
      assert.deepEqual(open(), [2, 4]);
    });
  }
});

it('the host of a URL is the same with another port, in capitals and with a trailing dot', () => {
  for (const url of [
    'https://hooks.example/a',
    'http://hooks.example:81/',
    'https://HOOKS.example.:8443/b?c',
  ])
    assert.equal(hostOf(url), 'hooks.example', url);
  assert.equal(hostOf('https://[::1]:8443/'), '[::1]');
});
