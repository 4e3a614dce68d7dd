import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Wait } from '../../../sdk/src/index.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { ClientTime } from '../support/client-time.ts';
import { importClient } from '../support/packed-client.ts';
import { TestClock } from '../support/test-clock.ts';

const { ConflictError, ConnectionError, PetStore, RateLimitError, ServerError } = await importClient();

interface Sent {
  at: number;
  method: string;
  headers: Record<string, string>;
}

type Responses = (() => Response)[];

/** A client of a service that sends these responses, each to one request, and the last one to all further requests. */
const clientOf = (...responses: Responses) => seededClientOf(17, ...responses);

function seededClientOf(seed: number, ...responses: Responses) {
  const time = new ClientTime(new TestClock(), seed);
  const sent: Sent[] = [];
  const waits: Wait[] = [];
  const store = new PetStore({
    baseUrl: 'http://petstore.example',
    clock: time,
    onWait: wait => waits.push(wait),
    fetch: async (_, { method = '', headers }) => {
      sent.push({ at: time.now(), method, headers: headers as Record<string, string> });
      return responses[Math.min(sent.length, responses.length) - 1]!();
    },
  });
  return { store, time, sent, waits, run: <T>(work: Promise<T>) => time.run(work, [store]) };
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  () =>
    new Response(JSON.stringify(body), {
      status,
      headers: { 'content-type': 'application/json', ...headers },
    });

const success = json(200, [], { ratelimit: '"minute";r=50;t=30', 'x-ratelimit-limit': '60' });
const pet = json(201, { id: 1, name: 'Rex', categoryId: 1 });
const unavailable = (headers: Record<string, string> = {}) =>
  json(503, { code: 'service_unavailable', message: 'The database is unavailable', status: 503 }, headers);
const broken = () => {
  throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
};

const gaps = (sent: readonly Sent[]) => sent.slice(1).map(({ at }, i) => at - sent[i]!.at);

describe('a client of a service that is unavailable', () => {
  it('sends the request again after random times that grow, and no other request meanwhile', async () => {
    const { store, run, sent, waits } = clientOf(broken, broken, broken, broken, success);
    const calls = Array.from({ length: 100 }, () => store.pets.list().first());
    await run(Promise.all(calls));
    assert.equal(sent.length, 4 + 100);
    for (const [i, gap] of gaps(sent).slice(0, 4).entries())
      assert.ok(gap >= 0 && gap <= SECOND * 2 ** i + 1, `pause ${i} was ${gap} ms`);
    assert.deepEqual(
      waits.map(({ reason }) => reason),
      Array(4).fill('unavailable'),
    );
  });

  it('returns at another time than other clients that were stopped together', async () => {
    const pauses = [];
    for (const seed of [1, 2, 3, 4]) {
      const { store, run, sent } = seededClientOf(seed, unavailable({ 'retry-after': '3' }), success);
      await run(store.pets.list().first());
      pauses.push(...gaps(sent));
    }
    assert.equal(new Set(pauses).size, 4, `${pauses}`);
  });

  it('sends a POST again with the same Idempotency-Key, and another POST with another key', async () => {
    const { store, run, sent } = clientOf(broken, unavailable(), pet);
    const body = { name: 'Rex', categoryId: 1 };
    assert.equal((await run(store.pets.create(body))).id, 1);
    await store.pets.create(body);
    await store.pets.create(body, { idempotencyKey: 'delivery-17' });
    const keys = sent.map(({ headers }) => headers['Idempotency-Key']);
    assert.equal(keys.length, 5);
    assert.equal(new Set(keys.slice(0, 3)).size, 1);
    assert.match(keys[0]!, /^[\w-]{36}$/);
    assert.notEqual(keys[3], keys[0]);
    assert.equal(keys[4], 'delivery-17');
  });

  it('waits at least as long as Retry-After', async () => {
    const { store, run, sent } = clientOf(unavailable({ 'retry-after': '7' }), success);
    await run(store.pets.list().first());
    const [gap] = gaps(sent);
    assert.ok(gap! >= 7 * SECOND && gap! <= 8 * SECOND + 1, `${gap} ms`);
  });

  it('gives up after maxRetries, together with the calls that wait, but not with later ones', async () => {
    const { store, run, sent } = clientOf(...Array(7).fill(broken), success);
    const calls = Array.from({ length: 5 }, () => store.pets.list().first());
    const results = await run(Promise.allSettled(calls));
    assert.equal(sent.length, 6);
    for (const result of results) {
      assert.ok(result.status === 'rejected' && result.reason instanceof ConnectionError);
      assert.match(result.reason.message, /^No response: Error: connect ECONNREFUSED$/);
    }
    const options = { maxRetries: 10 };
    assert.equal(await run(store.pets.list({}, options).first()), undefined);
    assert.equal(sent.length, 8);
  });

  it('throws the error of the service if Retry-After is longer than maxWait', async () => {
    const { store, sent } = clientOf(unavailable({ 'retry-after': '61' }), success);
    await assert.rejects(store.pets.list().first(), error => {
      assert.ok(error instanceof ServerError);
      assert.deepEqual([error.code, error.status], ['service_unavailable', 503]);
      assert.ok(error.retryAt!.getTime() > Date.now() + 50 * SECOND);
      return true;
    });
    assert.equal(sent.length, 1);
  });

  it('obeys X-Should-Retry, and sends nothing again without it', async () => {
    const rejected = clientOf(unavailable({ 'x-should-retry': 'false' }));
    await assert.rejects(rejected.store.pets.list().first(), ServerError);
    assert.equal(rejected.sent.length, 1);

    const inUse = json(
      409,
      { code: 'idempotency_key_in_use', message: 'In use', status: 409 },
      { 'x-should-retry': 'true' },
    );
    const again = clientOf(inUse, pet);
    assert.equal((await again.run(again.store.pets.create({ name: 'Rex', categoryId: 1 }))).id, 1);

    const conflict = clientOf(json(409, { code: 'category_in_use', message: 'In use', status: 409 }));
    await assert.rejects(conflict.store.categories.delete(1), ConflictError);
    const failed = clientOf(json(500, { code: 'internal_error', message: 'Failed', status: 500 }));
    await assert.rejects(failed.store.pets.list().first(), ServerError);
    assert.deepEqual([conflict.sent.length, failed.sent.length], [1, 1]);
  });

  it('retries the responses of proxies that cannot reach it', async () => {
    const proxy = () => new Response('<h1>Bad gateway</h1>', { status: 502 });
    const { store, run, sent } = clientOf(proxy, success);
    await run(store.pets.list().first());
    assert.equal(sent.length, 2);
    const down = clientOf(proxy);
    await assert.rejects(
      down.run(
        store.pets
          .list({}, { maxRetries: 0 })
          .first()
          .then(() => down.store.pets.list({}, { maxRetries: 0 }).first()),
      ),
      error => {
        assert.ok(error instanceof ServerError);
        assert.deepEqual([error.code, error.status], [undefined, 502]);
        return true;
      },
    );
  });

  it('treats a response that does not arrive within the timeout as a broken connection', async () => {
    const time = new ClientTime(new TestClock());
    let requests = 0;
    const store = new PetStore({
      baseUrl: 'http://petstore.example',
      clock: time,
      timeout: 5_000,
      maxRetries: 1,
      fetch: (_, { signal }) =>
        new Promise((_, reject) => {
          requests++;
          signal!.addEventListener('abort', () => reject(signal!.reason));
          queueMicrotask(() => time.advance(5_000));
        }),
    });
    const work = time.run(store.pets.list().first(), [store]);
    await assert.rejects(work, error => {
      assert.ok(error instanceof ConnectionError);
      assert.equal(error.message, 'No response within 5000 ms');
      return true;
    });
    assert.equal(requests, 2);
  });
});

describe('a 429', () => {
  const limited = (headers: Record<string, string>, code = 'rate_limit_exceeded') =>
    json(429, { code, message: 'Too many', status: 429 }, headers);

  it('stops all calls until Retry-After has passed, and then one call goes first', async () => {
    const rejected = limited({ 'retry-after': '20', ratelimit: '"minute";r=0;t=20' });
    const { store, run, sent, waits } = clientOf(success, ...Array(10).fill(rejected), success);
    const calls = Array.from({ length: 100 }, () => store.pets.list().first());
    await run(Promise.all(calls));
    assert.equal(sent.length, 1 + 10 + 100 - 1);
    const [pause] = gaps(sent).slice(10);
    assert.ok(pause! >= 20 * SECOND && pause! <= 21 * SECOND + 1, `${pause} ms`);
    assert.equal(waits.length, 1);
    assert.equal(waits[0]!.error?.code, 'rate_limit_exceeded');
  });

  it('about something else than requests concerns only its call', async () => {
    const streams = limited({ 'retry-after': '5', ratelimit: '"minute";r=50;t=30' }, 'too_many_streams');
    const { store, sent, waits } = clientOf(streams, success);
    await assert.rejects(store.pets.list().first(), error => {
      assert.ok(error instanceof RateLimitError);
      assert.equal(error.code, 'too_many_streams');
      return true;
    });
    assert.equal(await store.pets.list().first(), undefined);
    assert.deepEqual([sent.length, waits.length], [2, 0]);
  });

  it('of another server without the headers of the service is obeyed as well', async () => {
    const { store, run, sent } = clientOf(limited({}), success);
    await run(store.pets.list().first());
    assert.ok(gaps(sent)[0]! >= SECOND);
  });
});
