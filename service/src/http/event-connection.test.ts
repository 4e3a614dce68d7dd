import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { MINUTE, SECOND } from '../kit/clock.ts';
import { EventConnection } from './event-connection.ts';

/** The response of a stream, whose client reads everything unless `hasRoom` is false. */
class FakeResponse extends EventEmitter {
  hasRoom = true;
  writableEnded = false;
  destroyed = false;

  write(): boolean {
    return this.hasRoom;
  }

  end(): void {
    this.writableEnded = true;
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

function aConnection(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const response = new FakeResponse();
  const { mock } = t.mock.method(response, 'destroy');
  const connection = new EventConnection(response as unknown as ServerResponse, MINUTE, () => {});
  return { connection, response, destroyed: () => mock.callCount() };
}

describe('the end of a stream', () => {
  it('has a second to reach a client that reads nothing', t => {
    const { connection, destroyed } = aConnection(t);
    connection.end('The end');
    t.mock.timers.tick(SECOND - 1);
    assert.equal(destroyed(), 0);
    t.mock.timers.tick(1);
    assert.equal(destroyed(), 1);
  });

  it('leaves no timer when its client has closed the connection', t => {
    const { connection, response, destroyed } = aConnection(t);
    connection.end('The end');
    response.emit('close');
    t.mock.timers.tick(MINUTE);
    assert.equal(destroyed(), 0);
  });
});
