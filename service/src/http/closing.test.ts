import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { closeConnectionsPromptly } from './closing.ts';
import { Drain } from './drain.ts';
import { OwedResponses } from './owed-responses.ts';

class Connection extends EventEmitter {
  bytesRead = 0;
  isOpen = true;

  destroy(): void {
    this.isOpen = false;
    this.emit('close');
  }
}

/** A server that closes. Its sweeps run when the test advances the time. */
async function closing(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const http = Object.assign(new EventEmitter(), { closeIdleConnections: () => {} });
  const hooks: (() => Promise<void>)[] = [];
  const server = { server: http, addHook: (_name: string, hook: () => Promise<void>) => hooks.push(hook) };
  closeConnectionsPromptly(server as unknown as FastifyInstance, new Drain(), new OwedResponses());
  for (const hook of hooks) await hook();
  const connect = () => {
    const connection = new Connection();
    http.emit('connection', connection);
    return connection;
  };
  return { connect, sweep: () => t.mock.timers.tick(50), end: () => http.emit('close') };
}

describe('a connection of a closing server', () => {
  it('that was accepted just before a sweep has until the next one for its first bytes to be read', async t => {
    const { connect, sweep, end } = await closing(t);
    const early = connect();
    sweep();
    const late = connect();
    assert.ok(early.isOpen);
    early.bytesRead = 20;
    sweep();
    assert.ok(late.isOpen);
    late.bytesRead = 1;
    for (let i = 0; i < 5; i++) sweep();
    assert.ok(early.isOpen && late.isOpen, 'their requests are in flight');
    end();
  });

  it('that stays silent is closed by the second sweep', async t => {
    const { connect, sweep, end } = await closing(t);
    const silent = connect();
    sweep();
    sweep();
    assert.ok(!silent.isOpen);
    end();
  });
});

it('a connection leaves nothing in memory when it closes', async t => {
  const { mock } = t.mock.method(Set.prototype, 'add');
  const { connect, end } = await closing(t);
  const connections = [1, 2, 3].map(connect);
  const [sockets] = new Set(mock.calls.map(call => call.this as Set<unknown>));
  assert.equal(sockets!.size, 3);
  for (const connection of connections) connection.destroy();
  assert.equal(sockets!.size, 0);
  end();
});
