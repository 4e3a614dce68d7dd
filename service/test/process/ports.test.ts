import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { describe, it } from 'node:test';
import { freePort, startOnPort } from '../../../scripts/servers/ports.ts';

const TAKEN = new Error('listen EADDRINUSE: address already in use 127.0.0.1:1');

async function listen(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

describe('the port of a server', () => {
  it('is not assigned to another server of the process, however long the first one is stopped', async t => {
    const ports = new Set<number>();
    t.mock.timers.enable({ apis: ['setTimeout'] });
    // The system has about 28,000 free ports: two thousand random draws repeat many of them.
    for (let i = 0; i < 2_000; i++) {
      ports.add(await freePort());
      t.mock.timers.tick(60_000);
    }
    assert.equal(ports.size, 2_000);
  });

  it('changes when it was taken in the meantime', async t => {
    const tried: number[] = [];
    const port = await startOnPort(undefined, async free => {
      if (tried.push(free) === 1) {
        const other = await listen(free);
        t.after(() => other.close());
      }
      await using _server = await listen(free);
    });
    assert.equal(tried.length, 2);
    assert.equal(tried[1], port);
    assert.notEqual(tried[0], port);
  });

  it('is tried again when it is fixed and in use', async () => {
    const tried: number[] = [];
    const port = await startOnPort(4711, async fixed => {
      if (tried.push(fixed) === 1) throw TAKEN;
    });
    assert.deepEqual([tried, port], [[4711, 4711], 4711]);
  });

  it('does not change when the server fails for another reason, or when every port is in use', async () => {
    let starts = 0;
    const failing = (error: Error) =>
      startOnPort(undefined, async () => {
        starts++;
        throw error;
      });
    await assert.rejects(failing(new Error('out of memory')), /out of memory/);
    assert.equal(starts, 1);
    await assert.rejects(failing(TAKEN), TAKEN);
    assert.equal(starts, 11);
  });
});
