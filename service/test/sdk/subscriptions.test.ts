import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClientOptions, Event } from '../../../sdk/src/index.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { assertGapless, settledCursor } from '../support/event-log.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { importClient } from '../support/packed-client.ts';
import { Random } from '../support/random.ts';
import { restoreLog } from '../support/restored-log.ts';
import { startTestApp } from '../support/test-app.ts';
import { inTime, until } from '../support/until.ts';
import { idsOf, valuesOf } from '../support/values.ts';
import { clientOf, rejection, type Sent, stream } from './fake-service.ts';

const { GoneError, PermissionError, PetStore, ValidationError, WaitTooLongError } = await importClient();

/** A clock with real time, whose waits before another try are short. */
const clock: NonNullable<ClientOptions['clock']> = {
  now: () => performance.now(),
  after: (milliseconds, run) => {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
  random: () => 0.001,
};

async function start(t: TestContext, options: Partial<ClientOptions> = {}) {
  const shop = await startTestApp(t, { alone: false });
  const store = new PetStore({ baseUrl: shop.origin, apiKey: shop.adminKey, clock, ...options });
  return { shop, store };
}

/** Breaks the stream of a response after some bytes. */
function cut(response: Response, bytes: number): Response {
  let left = bytes;
  const transform = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      controller.enqueue(chunk.slice(0, left));
      left -= chunk.length;
      if (left <= 0) controller.error(new TypeError('The connection broke'));
    },
  });
  return new Response(response.body!.pipeThrough(transform), response);
}

const streamOf = (id: number) => stream(`id: ${id}\ndata: {"id":"${id}"}\n\n`);

/** Reads events until there are as many as wanted. */
async function take(events: AsyncIterable<Event>, count: number): Promise<Event[]> {
  const taken: Event[] = [];
  for await (const event of events) if (taken.push(event) === count) break;
  return taken;
}

describe('a subscription', () => {
  it('yields each event once and in order, although its connection breaks at any byte', async t => {
    const random = new Random(3);
    let streams = 0;
    const { shop, store } = await start(t, {
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        // Rarely in the first blocks, so that it advances.
        return ++streams > 30 ? response : cut(response, random.between(20, 2_000));
      },
    });
    const first = Number(await settledCursor(shop));
    const reading = take(store.events.subscribe({ from: first }), 60);
    for (let i = 0; i < 60; i++) await aCategory(shop.api);
    const events = await reading;
    assertGapless(idsOf(events), first + 1);
    assert.ok(streams >= 20, `${streams} streams`);
  });

  it('continues while the service restarts', async t => {
    let { shop, store } = await start(t);
    let origin = shop.origin;
    store = new PetStore({
      baseUrl: shop.origin,
      apiKey: shop.adminKey,
      clock,
      fetch: (url, init) => fetch(url.replace(shop.origin, origin), init),
    });
    const from = Number(await settledCursor(shop));
    const seen: Event[] = [];
    const reading = (async () => {
      for await (const event of store.events.subscribe({ from })) if (seen.push(event) === 2) return;
    })();
    await aCategory(shop.api);
    await until('the first event arrives', () => seen.length === 1);
    const restarted = await shop.restart();
    ({ origin } = restarted);
    await aCategory(restarted.api);
    await reading;
    assertGapless(idsOf(seen), from + 1);
  });

  it('starts with the next event, and filters by types, subject and actor', async t => {
    const { shop, store } = await start(t);
    await aPet(shop.api);
    await settledCursor(shop);
    const types = store.events.subscribe({ types: ['pet.created', 'order.*'], from: 0 });
    const [created] = await take(types, 1);
    assert.equal(created!.type, 'pet.created');
    const subject = store.events.subscribe({ subject: created!.subject, from: 0 });
    assert.deepEqual(await take(subject, 1), [created]);
    // The first event of the log has the actor `system`.
    const [byKey] = await take(store.events.subscribe({ actor: created!.actor, from: 0 }), 1);
    assert.equal(byKey!.actor, created!.actor);

    const later = take(store.events.subscribe(), 1);
    await until('the stream is open', () => store.limits.inFlight === 0 && shop.logLines().length > 0);
    await until('an event arrives', async () => {
      await aCategory(shop.api);
      return Promise.race([later.then(() => true), nextTurn(false)]);
    });
    assert.ok(Number((await later)[0]!.id) > Number(created!.id));
  });

  it('closes its stream when the loop ends, and when it is aborted', async t => {
    const { shop, store } = await start(t, {});
    await aCategory(shop.api);
    await settledCursor(shop);
    await take(store.events.subscribe({ from: 0 }), 1);
    const closed = (count: number) => () =>
      shop.logLines().filter(({ path, msg }) => path === '/events/stream' && msg === 'Request').length ===
      count;
    await until('the first stream is closed', closed(1));
    const end = new AbortController();
    const reason = new Error('enough');
    const reading = take(store.events.subscribe({ signal: end.signal, from: 0 }), 1_000);
    await until('the stream is open', () => store.limits.inFlight === 0);
    end.abort(reason);
    await assert.rejects(reading, reason);
  });

  it('waits for a limit as long as its maxWait', async () => {
    const limited = rejection({ 'retry-after': '120' });
    const { store, run } = clientOf([limited, stream('id: 1\ndata: {"id":"1"}\n\n')]);
    const events = store.events.subscribe({ from: 0, maxWait: 120 * SECOND });
    assert.equal((await run(events.next())).value!.id, '1');
    await assert.rejects(clientOf(limited).store.events.subscribe({ from: 0 }).next(), WaitTooLongError);
  });

  it('throws errors that another try does not solve', async t => {
    const { shop, store } = await start(t);
    await assert.rejects(take(store.events.subscribe({ from: 'x' }), 1), ValidationError);
    await assert.rejects(take(store.events.subscribe({ from: 99 }), 1), GoneError);
    const { key } = await shop.clientWith({ scopes: ['pets:read'] });
    const other = new PetStore({ baseUrl: shop.origin, apiKey: key, clock });
    await assert.rejects(take(other.events.subscribe(), 1), PermissionError);
    const expired = new PetStore({
      baseUrl: shop.origin,
      fetch: async () =>
        new Response('{"code":"cursor_expired","message":"The events have expired","status":410}', {
          status: 410,
        }),
    });
    await assert.rejects(take(expired.events.subscribe({ from: 1 }), 1), error => {
      assert.ok(error instanceof GoneError);
      assert.equal(error.code, 'cursor_expired');
      return true;
    });
  });

  it('yields log.restored if the service is restored and no event it has yielded is lost', async t => {
    const { shop, store } = await start(t);
    const survivor = Number(await settledCursor(shop));
    await restoreLog(shop, survivor);
    const [event] = await take(store.events.subscribe({ from: survivor }), 1);
    assert.ok(event?.type === 'log.restored');
    assert.equal(event.data.lastSurvivingId, String(survivor));
  });

  it('throws GoneError if the service is restored and the last event it has yielded is lost', async t => {
    const { shop, store } = await start(t);
    const survivor = Number(await settledCursor(shop));
    const yielded: string[] = [];
    const reading = (async () => {
      for await (const { id } of store.events.subscribe({ from: survivor, types: ['category.*'] }))
        yielded.push(id);
    })();
    await aCategory(shop.api);
    await until('an event arrives', () => yielded.length === 1);
    await restoreLog(shop, survivor);
    await aCategory(shop.api);
    await assert.rejects(inTime('the error', reading), error => {
      assert.ok(error instanceof GoneError);
      assert.deepEqual([error.code, error.status], ['log_restored', 410]);
      assert.match(error.message, new RegExp(`continue with cursor ${survivor};`));
      return true;
    });
    assert.deepEqual(yielded, [String(survivor + 1)]);
    const polling = store.events.list({ cursor: String(survivor + 1), wait: 1 }).first();
    await assert.rejects(
      polling,
      (error: Error) => error instanceof GoneError && error.code === 'log_restored',
    );
  });

  it('yields the characters of an event whose bytes arrive one by one', async () => {
    const bytes = new TextEncoder().encode('id: 1\ndata: {"id":"1","subject":"Zoë 🐢"}\n\n');
    const body = new ReadableStream({
      start: controller => {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const { store, run } = clientOf(stream(body));
    const [event] = await run(take(store.events.subscribe({ from: 0 }), 1));
    assert.equal(event!.subject, 'Zoë 🐢');
  });

  it('sends its headers with each of its requests', async () => {
    const { store, run, sent } = clientOf([streamOf(1), streamOf(2)]);
    await run(take(store.events.subscribe({ from: 0, headers: { 'X-Till': '7' } }), 2));
    assert.deepEqual(
      sent.map(({ headers }) => new Headers(headers).get('X-Till')),
      ['7', '7'],
    );
  });

  it('waits until the service no longer counts the stream that broke', async () => {
    const { store, run, sent } = clientOf([streamOf(1), rejection({}, 'too_many_streams'), streamOf(3)]);
    const events = await run(take(store.events.subscribe({ from: 0 }), 2));
    assert.deepEqual(valuesOf(events, 'id'), ['1', '3']);
    assert.deepEqual(searches(sent), ['?cursor=0', '?cursor=1', '?cursor=1']);
  });

  it('throws if the service has too many streams of the key from the start', async () => {
    const { store, run } = clientOf([rejection({}, 'too_many_streams'), streamOf(1)]);
    await assert.rejects(run(take(store.events.subscribe({ from: 0 }), 1)), { code: 'too_many_streams' });
  });

  it('opens a stream again that is silent for three heartbeats, after its last position', async () => {
    const silent = (text: string) => () => {
      const body = new ReadableStream({
        start: controller => controller.enqueue(new TextEncoder().encode(text)),
      });
      return stream(body)();
    };
    const { store, time, sent } = clientOf([
      silent('retry: 2000\n\nid: 7\n\n:\nid: 9\n\n'),
      silent('id: 10\nevent: x\ndata: {"id":"10"}\n\n'),
    ]);
    const reading = take(store.events.subscribe({ from: 5 }), 1);
    const advance = async (milliseconds: number) => {
      for (let i = 0; i < 20; i++) await nextTurn();
      time.advance(milliseconds);
    };
    // A pause after a stream that has ended takes a second at most.
    await advance(43 * SECOND);
    await advance(1.5 * SECOND);
    await advance(0);
    assert.deepEqual(searches(sent), ['?cursor=5']);
    await advance(2 * SECOND);
    await advance(SECOND);
    await advance(0);
    assert.deepEqual(searches(sent), ['?cursor=5', '?cursor=9']);
    const [event] = await reading;
    assert.equal(event!.id, '10');
  });
});

const searches = (sent: readonly Sent[]) => sent.map(({ search }) => search);
