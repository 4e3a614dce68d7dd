import assert from 'node:assert/strict';
import { EventEmitter, getEventListeners } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import type { EventFilter } from '../../src/events/event-log/event-filter.ts';
import { EventTail } from '../../src/events/event-log/event-tail.ts';
import { EventStream } from '../../src/events/stream/event-stream.ts';
import { waitForEvents } from '../../src/events/stream/wait-for-events.ts';
import { MINUTE } from '../../src/kit/clock.ts';
import type { MessageSink } from '../../src/routes/message-sink.ts';
import { CountingLog, settle } from './counting-log.ts';

const READERS = 1_000;
const ALL: EventFilter = { types: undefined, subject: undefined };

interface Reading {
  log: CountingLog;
  tail: EventTail;
  /** Number of active timers of waits. The tail's timer is not counted: it does not keep the process alive. */
  timers: () => number;
}

function aLog(t: TestContext): Reading {
  const log = new CountingLog();
  const fail = (problem: unknown) => assert.fail(String(problem));
  const tail = new EventTail(log, { onError: fail, onTakenBack: fail });
  t.after(() => tail.close());
  const timersNow = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length;
  const before = timersNow();
  return { log, tail, timers: () => timersNow() - before };
}

/** Fails if anything still follows the log, or reads it after new events. */
async function assertUnread({ log, tail, timers }: Reading): Promise<void> {
  await settle();
  const before = log.reads;
  for (let i = 0; i < 10; i++) {
    log.append();
    await settle();
  }
  assert.deepEqual([log.reads - before, tail.position, timers()], [0, undefined, 0]);
}

describe(`${READERS} waits for events leave nothing behind`, () => {
  /** Starts the waits, all with one signal, and checks that they wait. */
  async function begin({ log, tail, timers }: Reading, seconds = 60) {
    const disconnection = new AbortController();
    const wait = { after: 0, limit: 10, seconds, signal: disconnection.signal };
    const waits = Array.from({ length: READERS }, () => waitForEvents({ db: log, tail }, ALL, wait));
    await settle();
    assert.equal(timers(), READERS);
    const listeners = () => getEventListeners(disconnection.signal, 'abort').length;
    assert.equal(listeners(), READERS);
    return { disconnection, waits, listeners };
  }

  it('that ended with an event', async t => {
    const reading = aLog(t);
    const { waits, listeners } = await begin(reading);
    reading.log.append();
    for (const { events } of await Promise.all(waits)) assert.equal(events.length, 1);
    assert.equal(listeners(), 0);
    await assertUnread(reading);
  });

  it('that lasted their full time', async t => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const reading = aLog(t);
    const disconnection = new AbortController();
    const wait = { after: 0, limit: 10, seconds: 60, signal: disconnection.signal };
    const waits = Array.from({ length: READERS }, () =>
      waitForEvents({ db: reading.log, tail: reading.tail }, ALL, wait),
    );
    await settle();
    t.mock.timers.tick(MINUTE);
    for (const { events } of await Promise.all(waits)) assert.equal(events.length, 0);
    assert.equal(getEventListeners(disconnection.signal, 'abort').length, 0);
    await assertUnread(reading);
  });

  it('whose clients disconnected', async t => {
    const reading = aLog(t);
    const { disconnection, waits, listeners } = await begin(reading);
    disconnection.abort();
    for (const { events } of await Promise.all(waits)) assert.equal(events.length, 0);
    assert.equal(listeners(), 0);
    await assertUnread(reading);
  });

  it('whose clients had disconnected before they started', async t => {
    const reading = aLog(t);
    const signal = AbortSignal.abort();
    const wait = { after: 0, limit: 10, seconds: 60, signal };
    for (let i = 0; i < READERS; i++) await waitForEvents({ db: reading.log, tail: reading.tail }, ALL, wait);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
    await assertUnread(reading);
  });

  it('that failed because the log could not be read', async t => {
    const reading = aLog(t);
    const { disconnection, waits, listeners } = await begin(reading);
    const failed = Promise.allSettled(waits);
    t.mock.method(reading.log, 'all', async () => {
      throw new Error('The log cannot be read');
    });
    disconnection.abort();
    for (const { status } of await failed) assert.equal(status, 'rejected');
    assert.equal(listeners(), 0);
    t.mock.restoreAll();
    await assertUnread(reading);
  });
});

/** The connection of a stream, as `EventConnection` is for a connected client. */
class TestSink extends EventEmitter implements MessageSink {
  sent = 0;
  isBlocked = false;

  send(messages: readonly Uint8Array[]): boolean {
    this.sent += messages.length;
    return !this.isBlocked;
  }

  onBeat(): void {}

  onDrain(listener: () => void): void {
    this.on('drain', listener);
  }

  onClose(listener: () => void): void {
    this.once('close', listener);
  }

  end(): void {
    this.emit('close');
  }
}

function start({ log, tail }: Reading, sink: MessageSink): void {
  const request = { filter: ALL, position: 0, sink, keyId: 1, findReasonToEnd: async () => undefined };
  new EventStream({ db: log, tail, source: '/' }, request);
}

describe(`${READERS} streams leave nothing behind`, () => {
  const states: [what: string, prepare: (sink: TestSink) => void][] = [
    ['that had caught up with the log', () => {}],
    [
      'whose readers were blocked',
      sink => {
        sink.isBlocked = true;
      },
    ],
  ];

  for (const [what, prepare] of states) {
    it(what, async t => {
      const reading = aLog(t);
      const { log, tail } = reading;
      const sinks = Array.from({ length: READERS }, () => new TestSink());
      for (const sink of sinks) {
        prepare(sink);
        start(reading, sink);
      }
      await settle();
      log.append();
      await settle();
      assert.notEqual(tail.position, undefined);
      const sent = sinks.map(sink => sink.sent);
      assert.ok(Math.min(...sent) > 1, 'each has received its position and an event');
      for (const sink of sinks) sink.emit('close');
      await assertUnread(reading);
      assert.deepEqual(
        sinks.map(sink => sink.sent),
        sent,
      );
    });
  }

  it('that closed before they caught up', async t => {
    const reading = aLog(t);
    for (let i = 0; i < 100; i++) reading.log.append();
    // The tail knows the end of the log, so that the streams know that they are behind.
    const unfollow = reading.tail.follow(() => {});
    await settle();
    const before = reading.log.reads;
    const sinks = Array.from({ length: READERS }, () => new TestSink());
    for (const sink of sinks) start(reading, sink);
    for (const sink of sinks) sink.emit('close');
    unfollow();
    await assertUnread(reading);
    assert.ok(reading.log.reads - before < 10, 'streams that wait for their turn stop reading');
  });
});
