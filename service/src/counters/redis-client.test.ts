import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { reasonOf, redisConnection } from './redis-client.ts';

/** Where no server listens. */
const NOWHERE = ['redis://127.0.0.1:1', 'redis://127.0.0.1:2'];

/** Returns the reason why work fails. */
async function reason(work: Promise<unknown>): Promise<string> {
  return work.then(() => assert.fail('it succeeded'), reasonOf);
}

it('a connection that breaks before someone listens is reported to a later listener', async t => {
  const server = createServer(socket => {
    socket.on('data', command => {
      if (/hello/i.test(String(command))) socket.write('%0\r\n');
      else socket.destroy();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const connection = await redisConnection([`redis://127.0.0.1:${port}`]);
  await connection.open();
  await assert.rejects(connection.get('key'));
  await nextTurn();
  const { promise: reported, resolve } = Promise.withResolvers<Error>();
  connection.onEnd(resolve);
  assert.equal((await reported).message, 'The connection was closed');
  connection.end();
});

describe('the reason why Redis cannot be used', () => {
  it('is in plain words for a command on a connection that has ended', async () => {
    const connection = await redisConnection(NOWHERE.slice(0, 1));
    assert.equal(await reason(connection.get('key')), 'The connection was closed');
    connection.end();
  });

  it('is that of the network when nothing listens', async () => {
    const connection = await redisConnection(NOWHERE.slice(0, 1));
    assert.equal(await reason(connection.open()), 'connect ECONNREFUSED 127.0.0.1:1');
    connection.end();
  });

  it('is in plain words when no node of a cluster responds', async () => {
    const connection = await redisConnection(NOWHERE);
    assert.equal(await reason(connection.open()), 'No node of the cluster can be reached');
    connection.end();
  });

  it('is that of a node of a cluster that rejects the login', async t => {
    const server = createServer(socket => {
      socket.on('data', commands => {
        const count = String(commands).match(/^\*\d+\r$/gm)?.length ?? 0;
        socket.write('-NOAUTH Authentication required.\r\n'.repeat(count));
      });
      socket.on('error', () => {});
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const connection = await redisConnection([`redis://127.0.0.1:${port}`, `redis://127.0.0.1:${port}`]);
    assert.equal(await reason(connection.open()), 'NOAUTH Authentication required.');
    connection.end();
  });

  it('names each address that was tried', () => {
    const errors = ['connect ECONNREFUSED ::1:6379', 'connect ECONNREFUSED 127.0.0.1:6379'];
    const error = new AggregateError(errors.map(message => new Error(message)));
    assert.equal(reasonOf(error), errors.join('; '));
  });
});
