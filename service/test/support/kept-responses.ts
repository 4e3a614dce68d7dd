import assert from 'node:assert/strict';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** The most objects that may stay: of the last requests, and of connections that are kept. */
const STAY = 20;

/**
 * Watches the responses and connections of a server. Returns a function that fails unless nearly all of `count` or more
 * responses are garbage by then: what still listens to one keeps it, with all that belongs to its request.
 */
export function watchResponses(server: Server): (count: number) => Promise<void> {
  const responses: WeakRef<ServerResponse>[] = [];
  const sockets: WeakRef<Socket>[] = [];
  server.on('request', (_request, response: ServerResponse) => void responses.push(new WeakRef(response)));
  server.on('connection', (socket: Socket) => void sockets.push(new WeakRef(socket)));
  return async count => {
    assert.ok(responses.length >= count, `only ${responses.length} requests came`);
    for (let round = 0; round < 3; round++) {
      // A WeakRef holds its object until the turn in which it was read has ended.
      await nextTurn();
      collectGarbage();
    }
    for (const [name, refs] of Object.entries({ responses, sockets })) {
      const kept = refs.filter(ref => ref.deref() !== undefined).length;
      assert.ok(kept <= STAY, `${kept} of ${refs.length} ${name} are kept`);
    }
  };
}
