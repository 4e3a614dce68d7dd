import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SECOND } from '../../src/kit/clock.ts';
import { broken, clientOf, listWith, rejection, type Sent, settle, stream } from './fake-service.ts';

describe('the timers of a client, and its listeners of a signal', () => {
  const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

  it('end with a call, also if that was sent again', async () => {
    const { store, run, time } = clientOf([broken, rejection({ 'retry-after': '5' }), listWith(50)]);
    const { signal } = new AbortController();
    await run(store.pets.list({}, { signal }).first());
    assert.deepEqual([time.timers, listeners(signal)], [0, 0]);
  });

  it('end with each stream of a subscription, and with the subscription in a pause', async () => {
    const end = new AbortController();
    const { signal } = end;
    const streams: ReadableStreamDefaultController[] = [];
    const { store, time } = clientOf(() =>
      stream(new ReadableStream({ start: stream => void streams.push(stream) }))(),
    );
    const events = store.events.subscribe({ from: 0, signal });
    for (let i = 0; i < 3; i++) {
      const next = events.next();
      while (streams.length === i) {
        await settle();
        time.advance(SECOND);
      }
      streams[i]!.enqueue(new TextEncoder().encode(`id: ${i}\ndata: {}\n\n`));
      await next;
      assert.deepEqual([time.timers, listeners(signal)], [0, 1], 'the stream is open, and is not read');
      streams[i]!.close();
    }
    const next = events.next();
    await settle();
    assert.deepEqual([time.timers, listeners(signal)], [1, 1], 'the pause after the last stream');
    end.abort();
    await assert.rejects(next, { name: 'AbortError' });
    assert.deepEqual([time.timers, listeners(signal)], [0, 0]);
  });

  it('end with a subscription that cannot open its stream', async () => {
    const end = new AbortController();
    const { store, time } = clientOf(broken);
    const next = assert.rejects(store.events.subscribe({ signal: end.signal }).next(), {
      name: 'AbortError',
    });
    await settle();
    assert.equal(time.timers, 1, 'the pause before the next request');
    end.abort();
    await settle();
    assert.deepEqual([time.timers, listeners(end.signal)], [0, 0]);
    await next;
  });

  it('end with a call that waits for the response of another one', async () => {
    const never = ({ signal }: Sent) =>
      new Promise<Response>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const { store, time } = clientOf([listWith(1, 20), never]);
    await store.pets.list().first();
    const ends = [new AbortController(), new AbortController()];
    const calls = ends.map(({ signal }) => store.pets.list({}, { signal }).first());
    await settle();
    assert.equal(time.timers, 2, 'the time limit of the request, and the end of the window');
    for (const i of [1, 0]) {
      ends[i]!.abort();
      await assert.rejects(calls[i]!, { name: 'AbortError' });
      assert.equal(time.timers, i);
    }
  });

  it('end with the last call that waits, so that they do not keep a program running', async () => {
    const { store, time } = clientOf(listWith(0));
    await store.pets.list().first();
    assert.equal(time.timers, 0, 'after a request');
    const ends = [new AbortController(), new AbortController()];
    const calls = ends.map(({ signal }) => store.pets.list({}, { signal }).first());
    await nextTurn();
    assert.equal(time.timers, 1, 'one timer for all calls that wait');
    for (const [i, end] of ends.entries()) {
      end.abort();
      await assert.rejects(calls[i]!, { name: 'AbortError' });
      assert.equal(time.timers, i === 0 ? 1 : 0, `after ${i + 1} of 2 calls have ended`);
    }
  });
});
