import assert from 'node:assert/strict';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** How many objects may stay in memory: those of the last requests, and of open connections. */
const ALLOWED = 20;

/**
 * How long the last reads of handlers may take whose clients have disconnected, in milliseconds: on PostgreSQL they wait for a connection.
 * A timer that keeps a response lasts longer, because the tests wait for a minute.
 */
const READ_TIME = 20_000;

/**
 * Watches the responses and connections of a server. Returns a function that waits until nearly all of at least `count` responses have
 * been garbage-collected: a listener that remains on a response keeps its whole request in memory.
 */
export function watchResponses(server: Server): (count: number) => Promise<void> {
  const responses: WeakRef<ServerResponse>[] = [];
  const sockets: WeakRef<Socket>[] = [];
  server.on('request', (_request, response: ServerResponse) => void responses.push(new WeakRef(response)));
  server.on('connection', (socket: Socket) => void sockets.push(new WeakRef(socket)));
  return async count => {
    assert.ok(responses.length >= count, `only ${responses.length} requests arrived`);
    const deadline = performance.now() + READ_TIME;
    for (const [name, refs] of Object.entries({ responses, sockets })) {
      let alive: number;
      do {
        // A WeakRef keeps its object alive until the end of the turn in which it was read.
        await nextTurn();
        collectGarbage();
        alive = refs.filter(ref => ref.deref() !== undefined).length;
      } while (alive > ALLOWED && performance.now() < deadline);
      assert.ok(alive <= ALLOWED, `${alive} of ${refs.length} ${name} are still in memory`);
    }
  };
}
