import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SECOND } from '../../src/kit/clock.ts';
import { valuesOf } from '../support/values.ts';
import {
  broken,
  clientOf,
  gaps,
  json,
  listWith,
  rejection,
  type Sent,
  settle,
  stream,
} from './fake-service.ts';

/** A client whose requests wait until the test responds to them. */
function start(options?: Parameters<typeof clientOf>[1]) {
  const pending: { respond: (respond: () => Response) => void; fail: () => void }[] = [];
  const client = clientOf(
    () =>
      new Promise<Response>((resolve, reject) => {
        const respond = (response: () => Response) => resolve(response());
        pending.push({ respond, fail: () => reject(new TypeError('fetch failed')) });
      }),
    options,
  );
  return { ...client, pending, call: () => client.store.pets.list().first() };
}

/** A client with four calls: the first has its response, and the request of the second has failed. */
async function startWithFailure() {
  const client = start();
  const { pending } = client;
  const calls = Array.from({ length: 4 }, client.call);
  await settle();
  pending[0]!.respond(listWith(50));
  await settle();
  pending[1]!.fail();
  await settle();
  return { ...client, calls };
}

function threeCategories(store: ReturnType<typeof start>['store']) {
  const batch = store.batch();
  for (const name of ['Cats', 'Dogs', 'Birds']) batch.categories.create({ name });
  return batch;
}

describe('a client whose responses overtake each other', () => {
  it('believes the smallest number of remaining requests', async () => {
    const { pending, call } = start();
    const calls = Array.from({ length: 4 }, call);
    await settle();
    pending[0]!.respond(listWith(4));
    await settle();
    for (const [i, remaining] of [1, 3, 2].entries()) pending[i + 1]!.respond(listWith(remaining));
    await Promise.all(calls);
    const more = Array.from({ length: 5 }, call);
    await settle();
    assert.equal(pending.length, 5, 'one more request');
    for (const each of more) each.catch(() => {});
  });

  it('believes the earliest end of a window, because the service rounds seconds up', async () => {
    const { store, time } = clientOf([listWith(50, 20), listWith(49, 21)]);
    for (let i = 0; i < 2; i++) await store.pets.list().first();
    time.advance(20 * SECOND);
    assert.deepEqual(store.limits.windows, []);
  });

  it('believes a window that has begun earlier than the one before should have ended', async () => {
    const { store } = clientOf([listWith(1, 5), listWith(59, 60)]);
    for (let i = 0; i < 2; i++) await store.pets.list().first();
    assert.deepEqual(valuesOf(store.limits.windows, 'name', 'remaining'), [['minute', 59]]);
  });

  it('does not wait for a failure from before a wait', async () => {
    const { calls, time, pending, waits } = await startWithFailure();
    time.advance(2 * SECOND);
    await settle();
    pending[4]!.respond(listWith(49));
    await settle();
    assert.equal(waits.length, 1);
    pending[2]!.fail();
    await settle();
    pending[3]!.respond(listWith(48));
    pending[5]!.respond(listWith(47));
    await Promise.all(calls);
    assert.equal(waits.length, 1);
  });

  it('learns the limits after a wait only from a request that was sent after it', async () => {
    const { calls, time, pending, call } = await startWithFailure();
    calls.push(call());
    time.advance(2 * SECOND);
    await settle();
    assert.equal(pending.length, 5, 'one of the two that wait goes first');
    pending[2]!.respond(listWith(49));
    await settle();
    assert.equal(pending.length, 5);
    pending[4]!.respond(listWith(48));
    await settle();
    for (const { respond } of pending) respond(listWith(47));
    await Promise.all(calls);
    assert.equal(pending.length, 6);
  });

  it('waits once for a limit that several responses report, one after the other', async () => {
    const { time, pending, call, waits } = start();
    for (let i = 0; i < 3; i++) call().catch(() => {});
    await settle();
    pending[0]!.respond(listWith(50));
    await settle();
    for (const { respond } of pending.slice(1)) {
      respond(rejection({ 'retry-after': '5' }));
      await settle();
      time.advance(SECOND / 10);
    }
    assert.equal(waits.length, 1);
  });

  it('waits longer if a later response asks for that', async () => {
    const { time, pending, call, sent, run } = start();
    const calls = Array.from({ length: 3 }, call);
    await settle();
    pending[0]!.respond(listWith(50));
    await settle();
    pending[1]!.respond(rejection({ 'retry-after': '5' }));
    pending[2]!.respond(rejection({ 'retry-after': '30' }));
    await settle();
    time.advance(20 * SECOND);
    await settle();
    assert.equal(pending.length, 3, 'nothing is sent after the first wait');
    const done = run(Promise.all(calls));
    while (pending.length < 4) await nextTurn();
    assert.ok(sent[3]!.at - sent[2]!.at >= 30 * SECOND);
    pending[3]!.respond(listWith(49));
    while (pending.length < 5) await nextTurn();
    pending[4]!.respond(listWith(48));
    await done;
  });
});

describe('a client', () => {
  it('sends at most as many requests at once as each of its windows has left', async () => {
    const { pending, call } = start();
    for (const respond of [listWith(50), json(200, [], { ratelimit: '"day";r=2;t=5000' })]) {
      void call();
      await settle();
      pending.at(-1)!.respond(respond);
      await settle();
    }
    for (let i = 0; i < 5; i++) void call();
    await settle();
    assert.equal(pending.length, 2 + 2);
  });

  it('sends at most `maxConcurrent` requests at once', async () => {
    const { pending, call } = start({ maxConcurrent: 2 });
    void call();
    await settle();
    pending[0]!.respond(listWith(50));
    for (let i = 0; i < 5; i++) void call();
    await settle();
    assert.equal(pending.length, 1 + 2);
  });

  it('sends other requests while a long poll waits for its response', async () => {
    const { store, pending, call } = start();
    const poll = store.events.list({ wait: 60 }).first();
    const other = call();
    await settle();
    assert.equal(pending.length, 2);
    for (const { respond } of pending) respond(listWith(50));
    await Promise.all([poll, other]);
  });

  it('takes the limits of a long poll for those of its beginning', async () => {
    const { store, pending, time, waits } = start();
    const poll = store.events.list({ wait: 60 }).first();
    await settle();
    time.advance(55 * SECOND);
    pending[0]!.respond(listWith(0, 50));
    await poll;
    void store.pets.list().first();
    await settle();
    assert.deepEqual([pending.length, waits], [2, []]);
    pending[1]!.respond(listWith(50));
  });

  it('keeps what it knows about its window when a long poll reports one that has ended', async () => {
    const { store, pending, call, time } = start();
    const poll = store.events.list({ wait: 60 }).first();
    await settle();
    time.advance(30 * SECOND);
    const first = call();
    await settle();
    pending[1]!.respond(listWith(50, 60));
    await first;
    pending[0]!.respond(listWith(3, 20));
    await poll;
    assert.deepEqual(valuesOf(store.limits.windows, 'name', 'remaining'), [['minute', 50]]);
    const calls = [call(), call()];
    await settle();
    assert.equal(pending.length, 4, 'none of them has to learn the limits first');
    for (const { respond } of pending) respond(listWith(48));
    await Promise.all(calls);
  });

  it('sends the next request when the first one, which would have reported the limits, is cancelled', async () => {
    const never = ({ signal }: Sent) =>
      new Promise<Response>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const { store, sent } = clientOf([never, listWith(50)]);
    const end = new AbortController();
    const first = store.pets.list({}, { signal: end.signal }).first();
    const second = store.pets.list().first();
    await settle();
    assert.equal(sent.length, 1);
    end.abort();
    await assert.rejects(Promise.resolve(first), { name: 'AbortError' });
    await settle();
    assert.equal(sent.length, 2);
    await second;
  });

  it('sends the calls in their order, also a batch that has to wait for the response of another request', async () => {
    const { store, pending, call, sent } = start();
    void call();
    await settle();
    pending[0]!.respond(listWith(3));
    void call();
    void threeCategories(store).run();
    void call();
    await settle();
    assert.equal(sent.length, 2);
  });

  it('sends smaller calls after a batch for which the day has no room', async () => {
    const { store, run, sent, waits } = clientOf(json(200, [], { ratelimit: '"day";r=2;t=5000' }));
    await run(store.pets.list().first());
    const batch = run(threeCategories(store).run());
    const behind = run(store.pets.list().first());
    await assert.rejects(
      batch,
      ({ code, retryAt }) => code === 'rate_limit_exceeded' && retryAt > new Date(),
    );
    await behind;
    await run(store.pets.list().first());
    assert.deepEqual([sent.length, waits], [3, []]);
  });

  it('sends smaller calls also after the service has rejected a batch for which the day has no room', async () => {
    const day = { ratelimit: '"day";r=2;t=5000', 'x-ratelimit-remaining': '2' };
    const { store, run, sent, waits } = clientOf([
      rejection({ 'retry-after': '5000', ...day }),
      json(200, [], day),
    ]);
    await assert.rejects(
      run(threeCategories(store).run()),
      ({ code, retryAt }) => code === 'rate_limit_exceeded' && retryAt > new Date(),
    );
    await run(store.pets.list().first());
    await assert.rejects(run(threeCategories(store).run()), { code: 'rate_limit_exceeded' });
    assert.deepEqual([sent.length, waits], [2, []]);
  });

  it('sends smaller calls after a batch whose own maxWait is shorter than the wait of the limit', async () => {
    const headers = { ratelimit: '"minute";r=2;t=30', 'x-ratelimit-remaining': '2' };
    const { store, run, sent, waits } = clientOf([
      rejection({ 'retry-after': '30', ...headers }),
      json(200, [], headers),
    ]);
    await assert.rejects(run(threeCategories(store).run({ maxWait: 0 })), { code: 'rate_limit_exceeded' });
    await run(store.pets.list().first());
    assert.deepEqual([gaps(sent), waits], [[0], []]);
  });

  it('sends the calls that wait behind a batch when a response reports that the day has no room for it', async () => {
    const { store, pending, call } = start();
    const first = call();
    const batch = assert.rejects(threeCategories(store).run(), { code: 'rate_limit_exceeded' });
    const behind = call();
    await settle();
    assert.equal(pending.length, 1);
    pending[0]!.respond(json(200, [], { ratelimit: '"day";r=2;t=5000' }));
    await batch;
    await settle();
    assert.equal(pending.length, 2);
    pending[1]!.respond(listWith(50));
    await Promise.all([first, behind]);
  });

  it('sends a batch that had no room as soon as a response reports a new window', async () => {
    const { store, pending, call, sent } = start();
    void call();
    await settle();
    pending[0]!.respond(listWith(2, 5));
    await settle();
    void call();
    void threeCategories(store).run();
    await settle();
    assert.equal(sent.length, 2);
    pending[1]!.respond(listWith(59, 60));
    await settle();
    assert.equal(sent.length, 3);
  });

  it('sends the next request when its window ends, although a long poll still waits for its response', async () => {
    const { store, pending, call, time } = start();
    const first = call();
    await settle();
    pending[0]!.respond(listWith(1, 20));
    await first;
    const poll = store.events.list({ wait: 60 }).first();
    const next = call();
    await settle();
    assert.equal(pending.length, 2);
    time.advance(20 * SECOND);
    await settle();
    assert.equal(pending.length, 3);
    for (const { respond } of pending) respond(listWith(50));
    await Promise.all([poll, next]);
  });

  it('does not give up a call because of limits that others of its calls reach', async () => {
    const used = rejection({ 'retry-after': '5' });
    const { store, run, sent } = clientOf([used, used, used, listWith(50)], { maxRetries: 1 });
    const calls = [store.pets.list().first(), store.pets.list().first()];
    assert.deepEqual(await run(Promise.all(calls)), [undefined, undefined]);
    assert.equal(sent.length, 5);
  });

  it('forgets the failures of an outage when a request succeeds', async () => {
    const outage = [...Array(5).fill(broken), listWith(50)];
    const { run, store, sent } = clientOf([...outage, ...outage]);
    // There is always another call that waits.
    await run(Promise.all(Array.from({ length: 3 }, () => store.pets.list().first())));
    assert.equal(sent.length, 10 + 3);
  });

  it('forgets the failures of a subscription with each event, so its pauses stay short', async () => {
    const event = stream('id: 1\ndata: {"id":"1"}\n\n');
    const { run, store, sent, time } = clientOf(event);
    time.random = () => 1;
    const events = store.events.subscribe({ from: 0 });
    for (let i = 0; i < 8; i++) await run(events.next());
    assert.deepEqual(gaps(sent), Array(7).fill(SECOND));
  });

  it('forgets the failures of a subscription also with each position after the first of a stream', async () => {
    for (const [positions, pauses] of [
      ['retry: 2000\n\nid: 1\n\n:\nid: 2\n\n', [1, 1, 1]],
      // As the service begins and ends a stream that it cannot continue.
      ['retry: 2000\n\nid: 1\n\n: The log cannot be read now\n\n', [1, 2, 4]],
    ] as const) {
      const event = stream('id: 3\ndata: {"id":"3"}\n\n');
      const { run, store, sent, time } = clientOf([...Array(3).fill(stream(positions)), event]);
      time.random = () => 1;
      await run(store.events.subscribe({ from: 0 }).next());
      assert.deepEqual(
        gaps(sent),
        pauses.map(seconds => seconds * SECOND),
      );
    }
  });

  it('reports the positions of a subscription that have no event, after the events before them', async () => {
    const { run, store } = clientOf(
      stream(': a comment\n\nid: 4\n\nid: 5\ndata: {"id":"5"}\n\nid: 7\n\nid: 8\ndata: {"id":"8"}\n\n'),
    );
    const order: string[] = [];
    const onPosition = (position: string) => order.push(`position ${position}`);
    const events = store.events.subscribe({ from: 0, onPosition });
    for (let i = 0; i < 2; i++) order.push(`event ${(await run(events.next())).value!.id}`);
    assert.deepEqual(order, ['position 4', 'event 5', 'position 7', 'event 8']);
    await events.return(undefined as never);
  });

  it('whose `onWait` throws completes all calls, and the error is an uncaught one of the program', async t => {
    const uncaught: unknown[] = [];
    process.setUncaughtExceptionCaptureCallback(error => uncaught.push(error));
    t.after(() => process.setUncaughtExceptionCaptureCallback(null));
    const error = new Error('planted');
    // Every third response reports that the minute is used up.
    const minute = [2, 1, 0].map(remaining => listWith(remaining));
    const { store, run, sent } = clientOf([...minute, ...minute, ...minute], {
      onWait: () => {
        throw error;
      },
    });
    await run(Promise.all(Array.from({ length: 9 }, () => store.pets.list().first())));
    assert.equal(sent.length, 9);
    assert.deepEqual(uncaught, [error, error]);
    assert.deepEqual([store.limits.inFlight, store.limits.waiting], [0, 0]);
  });
});

describe('a client that waits for a limit', () => {
  it('reads the account and the state of the service, requests a plan and reports leaked keys at once: they use no quota', async () => {
    const { store, sent } = clientOf([rejection({ 'retry-after': '50' }), json(200, {})]);
    const end = new AbortController();
    const call = store.pets.list({}, { signal: end.signal }).first();
    await settle();
    assert.equal(store.limits.wait?.reason, 'limit');
    const upgrade = store.account.requestPlan({ plan: 'business' });
    const request = store.account.planRequest(5);
    const leaks = store.keys.revokeLeaked({ keys: [] as never });
    const others = Promise.all([store.account.get(), store.service.health(), upgrade, request, leaks]);
    await settle();
    assert.deepEqual([sent.length, store.limits.waiting], [6, 1]);
    await others;
    end.abort();
    await assert.rejects(call, { name: 'AbortError' });
  });

  it('waits with all calls for its account when one of them has to wait, and with no others', async () => {
    const { store, sent } = clientOf([rejection({ 'retry-after': '50' }), json(200, {})]);
    const end = new AbortController();
    const first = store.account.get({ signal: end.signal });
    await settle();
    const second = store.account.get({ signal: end.signal });
    await settle();
    assert.equal(sent.length, 1);
    void store.service.health();
    await settle();
    assert.equal(sent.length, 2);
    end.abort();
    for (const call of [first, second]) await assert.rejects(call, { name: 'AbortError' });
  });

  it('rejects a call at once if its signal is already aborted', async () => {
    const { store } = clientOf(rejection({ 'retry-after': '50' }));
    const end = new AbortController();
    const list = () => Promise.resolve(store.pets.list({}, { signal: end.signal }).first());
    const waiting = list();
    await settle();
    const other = store.pets.list({}, { signal: AbortSignal.abort() }).first();
    other.catch(() => {});
    await settle();
    assert.equal(store.limits.waiting, 1);
    end.abort();
    for (const call of [waiting, other]) await assert.rejects(call, { name: 'AbortError' });
  });

  it('waits as long as maxWait, without the random time by which the wait is longer', async () => {
    const used = rejection({ 'retry-after': '30' });
    const patient = clientOf([used, listWith(50)], { maxWait: 30 * SECOND });
    assert.equal(await patient.run(patient.store.pets.list().first()), undefined);
    assert.ok(gaps(patient.sent)[0]! > 30 * SECOND, 'a random time was added');
    const impatient = clientOf(used, { maxWait: 30 * SECOND - 1 });
    await assert.rejects(impatient.run(impatient.store.pets.list().first()), { name: 'PetStoreError' });
  });

  it('sends the first request of each window alone', async () => {
    const { pending, call, time } = start();
    const first = call();
    await settle();
    pending[0]!.respond(listWith(4, 50));
    await first;
    time.advance(50 * SECOND);
    const calls = Array.from({ length: 3 }, call);
    await settle();
    assert.equal(pending.length, 2);
    pending[1]!.respond(listWith(3));
    await settle();
    assert.equal(pending.length, 4);
    for (const { respond } of pending) respond(listWith(2));
    await Promise.all(calls);
  });

  it('shows a window only until its end', async () => {
    const { store, time } = clientOf(listWith(50, 20));
    await store.pets.list().first();
    assert.deepEqual(valuesOf(store.limits.windows, 'name', 'remaining'), [['minute', 50]]);
    time.advance(20 * SECOND);
    assert.deepEqual(store.limits.windows, []);
  });
});
