import assert from 'node:assert/strict';
import http, { type ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { listenLocally } from '../../../test/support/local-server.ts';
import type { Scope } from '../../contract/scopes.ts';
import type { Writer } from '../../db/database.ts';
import { SECOND } from '../../kit/clock.ts';
import { Connections } from './connections.ts';
import { LEASE } from './delivery-rules.ts';
import type { Resolve } from './endpoints.ts';
import { Endpoints } from './endpoints.ts';
import { Lane } from './lane.ts';
import type { Served } from './lane-rules.ts';
import type { ActiveWebhook, WebhookRow } from './webhook-queries.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const LIMIT = 4;

type Transaction = Served | 'locked' | Error;

/**
 * A lane whose transactions return what the test says, and `nothing` after that. Its webhook has due deliveries. `LIMIT` is how many
 * connections its host can have; the other limits are higher.
 */
function laneOf(transactions: Transaction[], url = 'http://127.0.0.1:1/') {
  const active: ActiveWebhook = {
    ...{ id: 1, api_key_id: 1, url, types: null, position: 0, last_event_id: null, failing_since: null },
    ...{ due_at: NOW, last_due_at: NOW, leased_until: null },
  };
  const webhook = { ...active, enabled: 1, secret: 'whsec_', previous_secret: null } as unknown as WebhookRow;
  const nothing: Served = { webhook, isFull: false, claimed: [], disabled: undefined, turn: undefined };
  const connections = new Connections({ total: 4 * LIMIT, perHost: LIMIT });
  const host = { host: '127.0.0.1', keyId: 1 };
  const closing = new AbortController();
  const work = new Set<Promise<void>>();
  const reported: unknown[] = [];
  const state = { tried: 0 };
  const resolve: Resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  const write = async () => {
    state.tried++;
    const result = transactions.shift() ?? nothing;
    if (result instanceof Error) throw result;
    return result;
  };
  const lane = new Lane(active, {
    db: { write } as unknown as Writer,
    readStandings: async () => new Map(),
    source: '/',
    closing: closing.signal,
    track: promise => {
      work.add(promise);
      void promise.finally(() => work.delete(promise));
    },
    clock: { now: () => NOW },
    onTurn: () => {},
    endpoints: new Endpoints({ resolve, allowPrivate: true }),
    connections,
    timeout: 10 * SECOND,
    random: () => 0.5,
    onAttempt: result => void reported.push(result),
    onDisabled: (id, { reason }) => void reported.push(`${id} ${reason}`),
    onError: error => void reported.push(error),
  });
  /** A transaction that claims deliveries. Those of a key without scopes are not sent, and their attempts end at once. */
  const claims = (count: number, ...scopes: Scope[]): Served => {
    const row = { webhook_id: 1, event_id: 1, type: 'pet.created', subject: 'pets/1', payload: '{}' };
    const one = { ...row, status: 'pending', attempts: 0, leased_until: NOW + LEASE };
    const claimed = Array.from({ length: count }, (_, id) => ({ ...one, id })) as never[];
    return { ...nothing, claimed: claimed.map(delivery => ({ delivery, webhook, scopes: new Set(scopes) })) };
  };
  const free = () => {
    const count = connections.take(host, 99);
    connections.free(host, count);
    return count;
  };
  return {
    ...{ lane, connections, host, closing, reported, claims, nothing, state, free },
    read: () => lane.read(active, 0, false),
    idle: async () => {
      while (work.size > 0) await Promise.all(work);
    },
  };
}

describe('a lane', () => {
  it('frees the connections that it does not use, and each other one after its attempt', async () => {
    const transactions: Transaction[] = [];
    const { read, idle, reported, claims, free, connections } = laneOf(transactions);
    transactions.push(claims(3));
    read();
    assert.equal(free(), 0, 'it has taken all connections to the host');
    await idle();
    assert.deepEqual(reported, ['withheld', 'withheld', 'withheld']);
    assert.ok(connections.isUnused);
  });

  it('frees them when its transaction fails, and reports the error', async () => {
    const error = new Error('planted');
    const { read, idle, reported, connections, lane } = laneOf([error]);
    read();
    await idle();
    assert.deepEqual([reported, connections.isUnused, lane.isIdle], [[error], true, true]);
  });

  it('waits for a connection to a full host, and continues when it gets one', async () => {
    const { read, idle, connections, host, state } = laneOf([]);
    const others = { ...host, keyId: 2 };
    assert.equal(connections.take(others, 99), LIMIT);
    read();
    await idle();
    assert.equal(state.tried, 0);
    connections.free(others, 1);
    await idle();
    assert.equal(state.tried, 1);
    connections.free(others, LIMIT - 1);
    assert.ok(connections.isUnused);
  });
});

describe('a lane whose webhook another transaction has locked', () => {
  it('lends its connections in the pauses, and claims nothing without one', async () => {
    const transactions: Transaction[] = Array(1_000).fill('locked');
    const { read, idle, connections, host, claims, nothing, reported, free, state } = laneOf(transactions);
    const others = { ...host, keyId: 2 };
    read();
    // Its pause begins in the turn of its transaction.
    await nextTurn();
    assert.equal(free(), LIMIT, 'it has freed all connections for its pause');
    assert.equal(connections.take(others, 99), LIMIT);
    // The transaction without connections claims nothing; more deliveries are due.
    transactions.splice(0, 1_000, nothing, claims(1));
    const before = state.tried;
    await idle();
    assert.deepEqual([state.tried, reported], [before + 1, []]);
    connections.free(others, 1);
    await idle();
    assert.deepEqual(reported, ['withheld'], 'it waited in the queue');
    connections.free(others, LIMIT - 1);
    assert.ok(connections.isUnused);
  });

  it('tries again until it is free, because outcomes would be lost; at shutdown no more than 20 times', async t => {
    // The shortest pauses.
    t.mock.method(Math, 'random', () => 0);
    const { read, idle, closing, state, connections } = laneOf(Array(1_000).fill('locked'));
    read();
    while (state.tried <= 21) await nextTurn();
    const before = state.tried;
    closing.abort();
    await idle();
    const tried = state.tried - before;
    assert.ok(tried > 0 && tried <= 20, `${tried} times`);
    assert.ok(connections.isUnused);
  });
});

describe('a lane whose attempts were aborted', () => {
  /** An endpoint that responds when the test says so. */
  async function endpoint(t: TestContext) {
    const responses: ServerResponse[] = [];
    const server = http.createServer((_, response) => void responses.push(response));
    return { responses, url: `${await listenLocally(t, server)}/` };
  }

  it('makes later ones, which can be aborted as well, and is idle only when they have ended', async t => {
    const { responses, url } = await endpoint(t);
    const transactions: Transaction[] = [];
    const { lane, read, idle, claims, reported, connections } = laneOf(transactions, url);
    t.after(() => connections.close());
    for (let sent = 1; sent <= 3; sent++) {
      transactions.push(claims(1, 'pets:read'));
      read();
      while (responses.length < sent) await nextTurn();
      assert.equal(lane.isIdle, false);
      if (sent < 3) lane.abort();
      else setImmediate(() => responses[2]!.writeHead(204).end());
      await idle();
      assert.deepEqual([lane.isIdle, connections.isUnused], [true, true]);
    }
    assert.deepEqual(reported, ['delivered']);
  });
});
