import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DatabaseUnavailable, type Queries, type Transaction, type Writer } from './database.ts';
import { HIGHEST } from './event-ranges.ts';
import { CONTINUE, type ContinuedLog, EventRelay } from './postgres-relay.ts';

function relayOn(db: object, onContinued?: (log: ContinuedLog) => void): EventRelay {
  return new EventRelay(db as Pick<Queries & Writer, 'get' | 'write'>, {
    clock: { now: () => 0 },
    onContinued,
  });
}

it('the relay numbers events that a poll finds, also after a failure, and the last ones when it closes', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const state = { waiting: true, latest: 0, attempts: 0, fails: true };
  const tx = {
    lock: async () => {},
    run: async () => 0,
    get: async () => {
      if (state.waiting) state.latest++;
      state.waiting = false;
      return { latest: state.latest, more: false };
    },
  } as unknown as Transaction;
  const db = {
    get: async () => ({ latest: state.latest, waiting: state.waiting }),
    write: async (work: (tx: Transaction) => Promise<unknown>) => {
      state.attempts++;
      if (state.fails) throw new DatabaseUnavailable(undefined);
      return work(tx);
    },
  };
  const relay = relayOn(db);
  const nudge = t.mock.method(relay, 'nudge');
  /** Polls, and waits for the run that this starts. */
  const poll = async (attempts: number) => {
    t.mock.timers.tick(500);
    await nextTurn();
    while (state.attempts < attempts) await nextTurn();
    await nextTurn();
  };
  await poll(1);
  await poll(2);
  state.fails = false;
  await poll(3);
  assert.deepEqual([state.attempts, relay.known, nudge.mock.callCount()], [3, 1, 3]);
  await poll(3);
  assert.equal(nudge.mock.callCount(), 3, 'none waits');
  state.waiting = true;
  relay.nudge();
  await relay.close();
  assert.deepEqual([state.latest, relay.known], [2, 2]);
  state.waiting = true;
  await poll(0);
  assert.equal(nudge.mock.callCount(), 4, 'a closed relay polls no more');
});

it('the relay learns from a poll how far the log is, because a database without notifications announces no events', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const relay = relayOn({
    get: async () => ({ latest: 7, waiting: false }),
    write: () => assert.fail('no event waits'),
  });
  t.mock.timers.tick(500);
  await nextTurn();
  assert.equal(relay.known, 7);
  await relay.close();
});

it('the relay runs when a poll finds that the log ends before an event that it knows, although none waits', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const relay = relayOn({ get: async () => ({ latest: 7, waiting: false }) });
  const { mock } = t.mock.method(relay, 'nudge', () => {});
  for (const [known, runs] of [
    [7, 0],
    [8, 1],
  ] as const) {
    relay.note(known);
    t.mock.timers.tick(500);
    await nextTurn();
    assert.equal(mock.callCount(), runs);
  }
  await relay.close();
});

it('the relay takes no note of what cannot be the number of an event, which any session can send', async () => {
  const relay = relayOn({});
  for (const id of [Number.NaN, HIGHEST + 1, Number.POSITIVE_INFINITY]) relay.note(id);
  assert.equal(relay.known, 0);
  relay.note(HIGHEST);
  assert.equal(relay.known, HIGHEST);
  await relay.close();
});

it('a relay that closes while it numbers events also numbers those that were committed meanwhile', async () => {
  const runs: PromiseWithResolvers<object>[] = [];
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const db = {
    write: () => {
      const run = Promise.withResolvers<object>();
      begun[runs.push(run) - 1]?.resolve();
      return run.promise;
    },
  };
  const relay = relayOn(db);
  relay.nudge();
  await begun[0]!.promise;
  relay.nudge();
  const closed = relay.close();
  runs[0]!.resolve({ latest: 1, mayHaveMore: false });
  await begun[1]!.promise;
  runs[1]!.resolve({ latest: 2, mayHaveMore: false });
  await closed;
  assert.deepEqual([runs.length, relay.known], [2, 2]);
});

it('a run of the relay numbers batches until no event waits, without a poll', async () => {
  const left = [500, 1_000, 1_001].map(latest => ({ latest, mayHaveMore: latest < 1_001 }));
  const relay = relayOn({ write: async () => left.shift() });
  relay.nudge();
  await relay.close();
  assert.deepEqual([left.length, relay.known], [0, 1_001]);
});

it('a run that waits for its transaction continues the log when it ends before an event that another run numbered meanwhile', async () => {
  const begins = Promise.withResolvers<void>();
  const log = { latest: 3 };
  const tx = {
    lock: async () => {},
    get: async (sql: string, [value]: [number]) => {
      if (sql === CONTINUE) log.latest = value;
      return { latest: log.latest, more: false };
    },
  } as unknown as Transaction;
  const db = {
    write: (work: (tx: Transaction) => Promise<unknown>) => begins.promise.then(() => work(tx)),
  };
  const continued: ContinuedLog[] = [];
  const relay = relayOn(db, log => continued.push(log));
  const run = relay.numberCommitted();
  relay.note(5);
  begins.resolve();
  await run;
  await relay.close();
  assert.deepEqual(continued, [{ known: 5, lastSurvivor: 3, first: 1_000_000_001 }]);
  assert.equal(log.latest, 1_000_000_001);
});
