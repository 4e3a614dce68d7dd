import assert from 'node:assert/strict';
import { EventEmitter, getEventListeners } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import type { EventFilter } from '../../src/events/event-log/event-filter.ts';
import { EventTail } from '../../src/events/event-log/event-tail.ts';
import { EventStream } from '../../src/events/stream/event-stream.ts';
import { waitForEvents } from '../../src/events/stream/wait-for-events.ts';
import { MINUTE } from '../../src/kit/clock.ts';
import type { MessageSink } from '../../src/routes/message-sink.ts';
import { valuesOf } from '../support/values.ts';
import { CountingLog, settle } from './counting-log.ts';

const READERS = 1_000;
const ALL: EventFilter = { types: undefined, subject: undefined };

/** A log, its tail, and the number of active timers of waits. The tail's timer is not counted: it does not keep the process alive. */
function aLog(t: TestContext) {
  const log = new CountingLog();
  const fail = (problem: unknown) => assert.fail(String(problem));
  const tail = new EventTail(log, { onError: fail, onTakenBack: fail });
  t.after(() => tail.close());
  const timersNow = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length;
  const before = timersNow();
  return { log, tail, timers: () => timersNow() - before };
}

type Reading = ReturnType<typeof aLog>;

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
  /** Starts the waits, all with one signal. Returns them, and how many listeners the signal has. */
  function begin({ log, tail }: Reading, disconnection = new AbortController()) {
    const wait = { after: 0, limit: 10, seconds: 60, signal: disconnection.signal };
    const waits = Array.from({ length: READERS }, () => waitForEvents({ db: log, tail }, ALL, wait));
    return { disconnection, waits, listeners: () => getEventListeners(wait.signal, 'abort').length };
  }

  it('that lasted their full time', async t => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const reading = aLog(t);
    const { waits, listeners } = begin(reading);
    await settle();
    t.mock.timers.tick(MINUTE);
    for (const { events } of await Promise.all(waits)) assert.equal(events.length, 0);
    assert.equal(listeners(), 0);
    await assertUnread(reading);
  });

  it('whose clients had disconnected before they started', async t => {
    const reading = aLog(t);
    const disconnection = new AbortController();
    disconnection.abort();
    const { waits, listeners } = begin(reading, disconnection);
    await Promise.all(waits);
    assert.equal(listeners(), 0);
    await assertUnread(reading);
  });

  it('that failed because the log could not be read', async t => {
    const reading = aLog(t);
    const { disconnection, waits, listeners } = begin(reading);
    await settle();
    assert.deepEqual([reading.timers(), listeners()], [READERS, READERS]);
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

  send(messages: readonly Uint8Array[]): boolean {
    this.sent += messages.length;
    // It has no more room.
    return false;
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
  it('whose readers were blocked', async t => {
    const reading = aLog(t);
    const sinks = Array.from({ length: READERS }, () => new TestSink());
    for (const sink of sinks) start(reading, sink);
    await settle();
    reading.log.append();
    await settle();
    assert.notEqual(reading.tail.position, undefined);
    const sent = sinks.map(sink => sink.sent);
    assert.ok(Math.min(...sent) > 1, 'each has received its position and an event');
    for (const sink of sinks) sink.emit('close');
    await assertUnread(reading);
    assert.deepEqual(valuesOf(sinks, 'sent'), sent);
  });

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
