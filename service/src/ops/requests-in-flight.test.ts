import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { it } from 'node:test';
import { RequestsInFlight } from './requests-in-flight.ts';

/** A response to a request on a connection. */
class FakeResponse extends EventEmitter {
  writableFinished = false;

  /** The response was sent, or its connection was closed before that. */
  end(isComplete = true): void {
    this.writableFinished = isComplete;
    this.emit('close');
  }
}

it('the requests in flight are none after their responses and after the end of their connections, in any order', () => {
  const server = new EventEmitter();
  const inFlight = new RequestsInFlight(server as unknown as Server);
  const counts = () => [inFlight.count, inFlight.aborted];
  const request = (socket: EventEmitter) => {
    const response = new FakeResponse();
    server.emit('request', { socket }, response);
    return response;
  };
  const [one, other] = [new EventEmitter(), new EventEmitter()];
  const [a, b, c] = [request(one), request(one), request(other)];
  assert.deepEqual(counts(), [3, 0]);
  a.end();
  c.end();
  assert.deepEqual(counts(), [1, 0]);
  // The response to `d` waits for that to `b`, and emits nothing when the connection closes.
  const d = request(one);
  assert.deepEqual(counts(), [2, 0]);
  assert.equal(one.listenerCount('close'), 1, 'a connection has one listener');
  b.end(false);
  assert.deepEqual(counts(), [1, 1]);
  one.emit('close');
  assert.deepEqual(counts(), [0, 2]);
  d.end(false);
  assert.deepEqual(counts(), [0, 2]);
  const e = request(other);
  other.emit('close');
  assert.deepEqual(counts(), [0, 3]);
  e.end(false);
  assert.deepEqual(counts(), [0, 3]);
});
