import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { listenLocally } from '../../../test/support/local-server.ts';
import { MINUTE } from '../../kit/clock.ts';
import { send } from './attempt.ts';
import { Connections } from './connections.ts';
import { Endpoints } from './endpoints.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

/** An endpoint that reacts to each request in turn; the last reaction is for all further requests. */
async function endpoint(t: TestContext, ...reactions: ((socket: Socket) => void)[]) {
  const requests: Socket[] = [];
  const server = createServer(socket => {
    socket.on('error', () => {});
    // A request is one chunk, because it is short.
    socket.on('data', () => {
      requests.push(socket);
      reactions[Math.min(requests.length, reactions.length) - 1]!(socket);
    });
  });
  const { port } = new URL(await listenLocally(t, server));
  const connections = new Connections({ total: 10, perHost: 10 });
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  t.after(() => {
    connections.close();
    for (const socket of requests) socket.destroy();
  });
  const url = `http://hooks.example:${port}/`;
  const options = { endpoints: new Endpoints({ resolve, allowPrivate: true }), connections, timeout: MINUTE };
  return { requests, post: () => send(url, {}, '{}', new AbortController().signal, options) };
}

const accept = (socket: Socket) => void socket.write(OK);

describe('an attempt on a kept connection', () => {
  for (const code of ['ECONNRESET', 'EPIPE']) {
    it(`that fails with ${code} before a response is sent again on a new connection`, async t => {
      const { requests, post } = await endpoint(t, accept);
      await post();
      const { prototype } = Socket;
      const { _write: write } = prototype;
      let failures = 0;
      t.mock.method(prototype, '_write', function (this: Socket, ...values: Parameters<typeof write>) {
        if (failures++ > 0) write.apply(this, values);
        else values[2](Object.assign(new Error('planted'), { code }));
      });
      assert.equal((await post())!.result, 'delivered');
      assert.deepEqual([requests.length, new Set(requests).size], [2, 2]);
    });
  }

  for (const [how, end] of [
    ['is reset', (socket: Socket) => socket.resetAndDestroy()],
    ['ends', (socket: Socket) => socket.end()],
  ] as const) {
    it(`that ${how} during the response has failed, and is not sent again`, async t => {
      const cut = (socket: Socket) =>
        void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf', () => end(socket));
      const { requests, post } = await endpoint(t, accept, cut, accept);
      await post();
      const { result, status, error } = (await post())!;
      assert.deepEqual([result, status, requests.length], ['unreachable', 200, 2]);
      assert.match(error!, /^The receiver closed the connection during its response: /);
    });
  }
});

it('an attempt that no address of its host accepts shows the error of each', async () => {
  const connections = new Connections({ total: 10, perHost: 10 });
  const resolve = async () => [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
  const options = { endpoints: new Endpoints({ resolve, allowPrivate: true }), connections, timeout: MINUTE };
  const { signal } = new AbortController();
  const { error } = (await send('http://hooks.example:9/', {}, '{}', signal, options))!;
  connections.close();
  assert.match(error!, /^connect E[A-Z]+ 127\.0\.0\.1:9; connect E[A-Z]+ ::1:9/);
});

it('an attempt reads the first 1,024 bytes of a response without an end, and closes the connection', async t => {
  const pour = (socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    const more = () => void socket.write('x'.repeat(1_000), error => error || setImmediate(more));
    more();
  };
  const { requests, post } = await endpoint(t, pour);
  const { result, responseStart } = (await post())!;
  assert.deepEqual([result, responseStart], ['delivered', 'x'.repeat(1_024)]);
  if (!requests[0]!.closed) await once(requests[0]!, 'close');
  assert.equal((await post())!.result, 'delivered');
  assert.equal(new Set(requests).size, 2, 'the connection was not kept');
});
