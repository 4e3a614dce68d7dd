import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import tls from 'node:tls';
import { redisConnection } from '../../src/counters/redis-client.ts';
import { listenLocally } from '../support/local-server.ts';

/** The commands in bytes that a client has sent, each as its words (https://redis.io/docs/latest/develop/reference/protocol-spec/). */
function commandsIn(bytes: Buffer): string[][] {
  const commands = String(bytes)
    .split(/^\*\d+\r\n/m)
    .slice(1);
  return commands.map(command => [...command.matchAll(/^\$\d+\r\n(.*)\r\n/gm)].map(([, word]) => word!));
}

/**
 * A server that is a sentinel, names itself as the primary, and ends a connection with the first command of another kind. Returns its
 * address, and the credentials and the database that it gets. The bytes on connections with TLS are not encrypted here.
 */
async function aServer(t: TestContext) {
  const received = new Set<string>();
  const serve = (suffix: string) => (socket: Socket) => {
    socket.on('error', () => {});
    socket.on('data', bytes => {
      for (const words of commandsIn(bytes)) {
        // In AUTH, or in HELLO.
        const auth = words.findIndex(word => /^auth$/i.test(word));
        if (auth >= 0) received.add(words.slice(auth + 1).join(' ') + suffix);
        if (words[0] === 'select') received.add(`database ${words[1]}${suffix}`);
        if (auth >= 0 || words[0] === 'client') socket.write('+OK\r\n');
        else if (words[1] === 'get-master-addr-by-name')
          socket.write(`*2\r\n$9\r\n127.0.0.1\r\n$${port.length}\r\n${port}\r\n`);
        else if (words[0] === 'sentinel') socket.write('*0\r\n');
        else socket.destroy();
      }
    });
  };
  const { host, port } = new URL(await listenLocally(t, createServer(serve(''))));
  const encrypted = new URL(await listenLocally(t, createServer(serve(' with TLS'))));
  t.mock.method(tls, 'connect', () => {
    const socket = connect(Number(encrypted.port), '127.0.0.1');
    return socket.once('connect', () => socket.emit('secureConnect'));
  });
  return { host, received };
}

describe('the user, the password, the database and TLS of the URL are used', () => {
  const sentinels = '+sentinel://ann:secret@HOST/limits/2?sentinel_user=bob&sentinel_password=hidden';
  for (const [url, ...expected] of [
    ['redis://ann:secret@HOST', 'ann secret'],
    ['redis://ann:secret@HOST/2', 'ann secret', 'database 2'],
    ['rediss://ann:secret@HOST', 'ann secret with TLS'],
    ['redis://ann:secret@HOST, redis://HOST', 'ann secret'],
    ['rediss://ann:secret@HOST, rediss://HOST', 'ann secret with TLS'],
    [`redis${sentinels}`, 'bob hidden', 'ann secret', 'database 2'],
    [`rediss${sentinels}`, 'bob hidden with TLS', 'ann secret with TLS', 'database 2 with TLS'],
  ] as const) {
    it(`with ${url}`, async t => {
      const { host, received } = await aServer(t);
      const connection = await redisConnection(url.replaceAll('HOST', host).split(', '));
      await assert.rejects(connection.open().then(() => connection.get('key')));
      connection.end();
      assert.deepEqual([...received], expected);
    });
  }
});
