import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SECOND } from '../kit/clock.ts';
import { RedisLink } from './redis-link.ts';

/** A connection whose commands respond when the test says so. */
class FakeConnection {
  readonly sent: string[] = [];
  isEnded = false;
  /** Makes the connection open; `undefined` lets it open at once. */
  opening: Promise<void> | undefined;
  #waiting: { resolve: (value: unknown) => void; reject: (error: Error) => void }[] = [];
  #listener: (error: Error) => void = () => {};

  open = async () => this.opening;
  /** The probe responds at once. */
  decide = async ([key]: readonly string[]) => {
    this.sent.push(key!);
    return [''];
  };
  get = (key: string) => this.#send<string | null>(key);
  setNew = (key: string) => this.#send<'OK' | null>(`set ${key}`);
  onEnd = (listener: (error: Error) => void) => {
    this.#listener = listener;
  };
  keepOpen = () => {};
  end = () => {
    this.isEnded = true;
  };

  /** The connection breaks. */
  break(): void {
    this.#listener(new Error('broken'));
  }

  /** Responds to the oldest command. */
  respond(value: string | null | Error): void {
    const { resolve, reject } = this.#waiting.shift()!;
    if (value instanceof Error) reject(value);
    else resolve(value);
  }

  #send<T>(command: string): Promise<T> {
    this.sent.push(command);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#waiting.push({ resolve: resolve as (value: unknown) => void, reject });
    return promise;
  }
}

/** An error that Redis returned. */
function rejected(message: string): Error {
  return Object.assign(new Error(message), { name: 'ReplyError' });
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn();
}

function aLink(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const connections: FakeConnection[] = [];
  const statuses: string[] = [];
  const ended: boolean[] = [];
  const state = { opening: undefined as Promise<void> | undefined, connected: 0 };
  const link = new RedisLink({
    urls: ['redis://127.0.0.1'],
    connect: async () => {
      const connection = new FakeConnection();
      connection.opening = state.opening;
      connections.push(connection);
      return connection;
    },
    onConnect: () => state.connected++,
    onStatus: (status, error) => void statuses.push(error ? `${status}: ${error.message}` : status),
    onCommand: () => isResponded => void ended.push(isResponded),
  });
  t.after(() => link.close());
  /** Lets time pass. A process that is blocked runs its timers `late`. */
  const pass = async (milliseconds: number, late = 0) => {
    now += milliseconds + late;
    t.mock.timers.tick(milliseconds);
    await settle();
  };
  return { link, connections, statuses, ended, state, pass };
}

const UNRESPONSIVE = 'fallback: Redis did not respond within 1000 ms';

describe('the link to Redis', () => {
  it('is tried again half a second after each failure, and reports only changes', async t => {
    const { link, connections, statuses, state, pass } = aLink(t);
    state.opening = Promise.reject(new Error('ECONNREFUSED'));
    state.opening.catch(() => {});
    await link.connect();
    for (let attempts = 1; attempts <= 3; attempts++) {
      assert.deepEqual([connections.length, connections.at(-1)?.isEnded], [attempts, true]);
      await pass(499);
      assert.equal(connections.length, attempts);
      if (attempts === 3) state.opening = undefined;
      await pass(1);
    }
    assert.deepEqual([link.isUp, state.connected, statuses], [true, 1, ['fallback: ECONNREFUSED', 'shared']]);
    connections.at(-1)!.break();
    assert.equal(link.isUp, false);
    await pass(500);
    assert.deepEqual([link.isUp, state.connected, connections.length], [true, 2, 5]);
  });

  it('reports once why a Redis that is back rejects commands, and each other reason', async t => {
    const { link, connections, statuses, state, pass } = aLink(t);
    await link.connect();
    const rejectOpening = (error: Error) => {
      state.opening = Promise.reject(error);
      state.opening.catch(() => {});
    };
    rejectOpening(rejected('NOAUTH'));
    connections[0]!.break();
    await pass(500);
    await pass(500);
    rejectOpening(rejected('LOADING'));
    await pass(500);
    rejectOpening(rejected('NOAUTH'));
    await pass(500);
    rejectOpening(new Error('ECONNREFUSED'));
    await pass(500);
    assert.deepEqual(statuses, ['fallback: broken', 'fallback: NOAUTH', 'fallback: LOADING']);
  });

  it('is tried again when connecting takes longer than a second', async t => {
    const { link, connections, statuses, state, pass } = aLink(t);
    state.opening = new Promise(() => {});
    const connecting = link.connect();
    await settle();
    await pass(SECOND);
    await connecting;
    state.opening = undefined;
    assert.deepEqual([statuses, connections[0]?.isEnded], [[UNRESPONSIVE], true]);
    await pass(500);
    assert.ok(link.isUp);
  });

  it('has another second to connect when this process was blocked, and the timer is late', async t => {
    const { link, connections, statuses, state, pass } = aLink(t);
    const { promise, resolve } = Promise.withResolvers<void>();
    state.opening = promise;
    const connecting = link.connect();
    await settle();
    await pass(SECOND, 51);
    assert.equal(connections[0]!.isEnded, false);
    resolve();
    await connecting;
    assert.deepEqual([link.isUp, statuses], [true, []]);
  });

  it('is lost when the oldest command has no response for a second, and no command waits any longer', async t => {
    const { link, connections, statuses, ended, pass } = aLink(t);
    await link.connect();
    const first = link.get('a');
    await pass(900);
    const others = ['b', 'c'].map(key => link.get(key));
    connections[0]!.respond('1');
    assert.equal(await first, '1');
    await pass(999);
    assert.deepEqual([link.isUp, statuses], [true, []]);
    await pass(1);
    assert.deepEqual(await Promise.all(others), [undefined, undefined]);
    assert.deepEqual(
      [statuses, ended, connections[0]!.isEnded],
      [[UNRESPONSIVE], [true, false, false], true],
    );
    assert.equal(await link.get('d'), undefined);
    assert.deepEqual(connections[0]!.sent, ['petstore:limits:{probe}:probe', 'a', 'b', 'c']);
  });

  it('waits for another second when this process was blocked, and the timer is late', async t => {
    const { link, connections, statuses, pass } = aLink(t);
    await link.connect();
    const waiting = link.get('a');
    await pass(SECOND, 51);
    assert.equal(link.isUp, true);
    connections[0]!.respond('1');
    assert.equal(await waiting, '1');
    void link.get('b');
    await pass(SECOND, 51);
    await pass(SECOND);
    assert.deepEqual(statuses, [UNRESPONSIVE]);
  });

  it('is probed with the key of the command that failed, so that a cluster asks the same node', async t => {
    const { link, connections, statuses, pass } = aLink(t);
    await link.connect();
    const failed = link.get('{key:7}');
    connections[0]!.respond(new Error('READONLY'));
    assert.equal(await failed, undefined);
    await pass(500);
    assert.deepEqual(connections[1]!.sent, ['{key:7}:probe']);
    assert.deepEqual(statuses, ['fallback: READONLY', 'shared']);
  });

  it('is not lost by a connection that was replaced', async t => {
    const { link, connections, statuses, ended, pass } = aLink(t);
    await link.connect();
    const failed = link.get('a');
    connections[0]!.break();
    await pass(500);
    connections[0]!.break();
    connections[0]!.respond(new Error('closed'));
    await settle();
    assert.equal(await failed, undefined);
    assert.deepEqual([link.isUp, statuses], [true, ['fallback: broken', 'shared']]);
    assert.deepEqual(ended, [false]);
  });

  it('takes the mark of another replica that set its own first', async t => {
    const { link, connections } = aLink(t);
    await link.connect();
    const mark = link.mark('m', 'mine');
    for (const response of [null, null, 'theirs']) {
      connections[0]!.respond(response);
      await settle();
    }
    assert.equal(await mark, 'theirs');
    assert.deepEqual(connections[0]!.sent.slice(1), ['m', 'set m', 'm']);
  });

  for (const [when, prepare] of Object.entries({
    'it is connected': async () => {},
    'it is being probed': async ({ state }) => {
      state.opening = new Promise(() => {});
    },
    'it waits to connect again': async ({ connections }) => connections[0]!.break(),
  } as Record<string, (parts: ReturnType<typeof aLink>) => Promise<void>>)) {
    it(`ends with its connections when it is closed while ${when}`, async t => {
      const parts = aLink(t);
      const { link, connections, state, statuses, pass } = parts;
      if (when === 'it is being probed') await prepare(parts);
      const connecting = link.connect();
      await settle();
      if (when !== 'it is being probed') await prepare(parts);
      const before = statuses.length;
      link.close();
      await pass(SECOND);
      await pass(SECOND);
      await connecting;
      assert.equal(connections.length, 1);
      assert.deepEqual([connections[0]!.isEnded, link.isUp, statuses.length], [true, false, before]);
      assert.equal(state.connected, when === 'it is being probed' ? 0 : 1);
    });
  }

  it('does not open a connection that is created while it is being closed', async t => {
    const { link, connections } = aLink(t);
    const connecting = link.connect();
    link.close();
    await connecting;
    assert.deepEqual(connections[0]!.sent, []);
  });

  it('does not use a connection whose probe succeeds after it was closed', async t => {
    const { link, connections, state } = aLink(t);
    const { promise, resolve } = Promise.withResolvers<void>();
    state.opening = promise;
    const connecting = link.connect();
    await settle();
    link.close();
    resolve();
    await connecting;
    assert.deepEqual([state.connected, link.isUp, connections[0]!.isEnded], [0, false, true]);
  });
});
