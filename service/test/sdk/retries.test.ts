import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SECOND } from '../../src/kit/clock.ts';
import { broken, clientOf, gaps, listWith, type Sent, settle, stream } from './fake-service.ts';

describe('the time limit of a request', () => {
  /** A response whose body does not end before the request is aborted. */
  const stalled = ({ signal }: Sent) => {
    const start = (body: ReadableStreamDefaultController) =>
      signal.addEventListener('abort', () => body.error(signal.reason));
    return stream(new ReadableStream({ start }), {
      'content-type': 'application/json',
      ratelimit: '"minute";r=9;t=50',
    })();
  };

  it('includes the body of the response', async () => {
    const { store, run, sent, time } = clientOf([stalled, listWith(50)], { timeout: 5 * SECOND });
    const call = store.pets.list().first();
    await settle();
    time.advance(5 * SECOND - 1);
    await settle();
    assert.equal(sent[0]!.signal.aborted, false);
    time.advance(1);
    await run(call);
    assert.equal(sent.length, 2);
  });

  it('is longer for a long poll, by the time that the service may wait', async () => {
    for (const [own, seconds] of [
      [undefined, 35],
      [8 * SECOND, 38],
    ] as const) {
      const { store, sent, time } = clientOf(() => new Promise(() => {}), { timeout: 5 * SECOND });
      const end = new AbortController();
      const call = store.events.list({ wait: 30 }, { signal: end.signal, timeout: own }).first();
      call.catch(() => {});
      await settle();
      time.advance(seconds * SECOND - 1);
      assert.equal(sent[0]!.signal.aborted, false);
      time.advance(1);
      assert.equal(sent[0]!.signal.aborted, true);
      end.abort();
    }
  });
});

describe('a client of a service that is unavailable', () => {
  it('forgets the failures of an outage in which it gave up', async () => {
    const { store, run, sent, time } = clientOf([...Array(6 + 5).fill(broken), listWith(50)]);
    await assert.rejects(run(store.pets.list().first()), { name: 'PetStoreError' });
    assert.equal(sent.length, 6);
    time.advance(60 * SECOND);
    await run(store.pets.list().first());
    assert.equal(sent.length, 12);
  });

  it('tries again after pauses of at most twice the one before, and at most 10 seconds', async () => {
    const { store, run, sent, time } = clientOf([...Array(5).fill(broken), listWith(50)]);
    time.random = () => 1;
    await run(store.pets.list().first());
    assert.deepEqual(
      gaps(sent),
      [1, 2, 4, 8, 10].map(seconds => seconds * SECOND),
    );
  });

  it('gives up a call that fails each time, although others succeed in between', async () => {
    const isBad = ({ search }: Sent) => search.includes('bad');
    const { store, run, sent } = clientOf(request => (isBad(request) ? broken() : listWith(50)()));
    const work = async () => {
      for (let i = 0; i < 30; i++) await store.pets.list().first();
    };
    const bad = store.pets.list({ name: 'bad' }).first();
    const [result] = await run(Promise.allSettled([bad, work()]));
    assert.deepEqual([result.status, sent.filter(isBad).length], ['rejected', 6]);
  });

  it('subscribes again for as long as it takes, after pauses of at most 30 seconds', async () => {
    const outage = [...Array(8).fill(broken), ...Array(8).fill(stream(''))];
    const { store, run, sent, time } = clientOf([...outage, stream('id: 1\ndata: {"id":"1"}\n\n')]);
    time.random = () => 1;
    assert.equal((await run(store.events.subscribe({ from: 0 }).next())).value.id, '1');
    assert.equal(sent.length, 17);
    const pauses = gaps(sent);
    assert.equal(Math.max(...pauses), 30 * SECOND);
    assert.deepEqual(
      pauses.slice(8, 11),
      [1, 2, 4].map(seconds => seconds * SECOND),
    );
  });
});
