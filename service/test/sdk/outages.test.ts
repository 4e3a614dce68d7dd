import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../../../sdk/src/clock.ts';
import type { Wait } from '../../../sdk/src/index.ts';
import { HOUR, SECOND } from '../../src/kit/clock.ts';
import { importClient } from '../support/packed-client.ts';
import { valuesOf } from '../support/values.ts';
import { broken, clientOf, gaps, json, rejection, settle } from './fake-service.ts';

const {
  ConflictError,
  ConnectionError,
  PetStore,
  PetStoreError,
  RateLimitError,
  ServerError,
  WaitTooLongError,
} = await importClient();

const success = json(200, [], { ratelimit: '"minute";r=50;t=30', 'x-ratelimit-limit': '60' });
const pet = json(201, { id: 1, name: 'Rex', categoryId: 1 });
const unavailable = (headers: Record<string, string> = {}) =>
  json(503, { code: 'service_unavailable', message: 'The database is unavailable', status: 503 }, headers);
describe('a client of a service that is unavailable', () => {
  it('sends the request again after random times that grow, and no other request meanwhile', async () => {
    const { store, run, sent, waits } = clientOf([broken, broken, broken, broken, success]);
    const calls = Array.from({ length: 100 }, () => store.pets.list().first());
    await run(Promise.all(calls));
    assert.equal(sent.length, 4 + 100);
    for (const [i, gap] of gaps(sent).slice(0, 4).entries())
      assert.ok(gap >= 0 && gap <= SECOND * 2 ** i + 1, `pause ${i} was ${gap} ms`);
    assert.deepEqual(valuesOf(waits, 'reason'), Array(4).fill('unavailable'));
  });

  it('returns at another time than other clients that were stopped together', async () => {
    const pauses = [];
    for (const seed of [1, 2, 3, 4]) {
      const { store, run, sent } = clientOf([unavailable({ 'retry-after': '3' }), success], { seed });
      await run(store.pets.list().first());
      pauses.push(...gaps(sent));
    }
    assert.equal(new Set(pauses).size, 4, `${pauses}`);
  });

  it('sends a POST again with the same Idempotency-Key, and another POST with another key', async () => {
    const { store, run, sent } = clientOf([broken, unavailable(), pet]);
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

  it('sends a POST that may have been executed again only for 23 hours, also if the machine has slept', async t => {
    t.mock.timers.enable({ apis: ['Date'] });
    const limited = rejection({ 'retry-after': '1' });
    const sleep = (milliseconds: number, respond: () => Response) => () => {
      t.mock.timers.setTime(Date.now() + milliseconds);
      return respond();
    };
    const clientAfter = (first: () => Response, milliseconds: number, second = limited) => {
      const { store, run, sent, waits } = clientOf([first, sleep(milliseconds, second), pet]);
      const create = () => run(store.pets.create({ name: 'Rex', categoryId: 1 }));
      return { store, run, sent, waits, create };
    };
    const late = clientAfter(broken, 23 * HOUR + 1);
    await assert.rejects(late.create(), ConnectionError);
    assert.equal(late.sent.length, 2);
    assert.equal(late.waits.length, 2, 'no wait before a try that is not sent');
    assert.equal((await late.create()).id, 1);
    assert.equal((await clientAfter(broken, 23 * HOUR).create()).id, 1);
    assert.equal((await clientAfter(limited, 48 * HOUR).create()).id, 1);
    // The outcome is that of the first try.
    const twice = clientAfter(sleep(12 * HOUR, broken), 12 * HOUR, broken);
    await assert.rejects(twice.create(), ConnectionError);
    assert.equal(twice.sent.length, 2);
    const { store, run, sent } = clientAfter(broken, 48 * HOUR);
    await run(store.pets.update(1, { name: 'Rex' }));
    assert.equal(sent.length, 3);
  });

  it('throws the error after which a POST may have been executed, also if a limit then exceeds maxWait', async () => {
    const limited = rejection({ 'retry-after': '3600' });
    const body = { name: 'Rex', categoryId: 1 };
    const doubted = clientOf([broken, limited]);
    await assert.rejects(doubted.run(doubted.store.pets.create(body)), ConnectionError);
    assert.equal(doubted.sent.length, 2);
    const operations = [{ method: 'POST' as const, path: '/pets', body }];
    const left = rejection({ 'retry-after': '3600', 'x-ratelimit-remaining': '2' });
    const batch = clientOf([broken, left]);
    await assert.rejects(batch.run(batch.store.batches.create({ operations })), ConnectionError);
    assert.equal(batch.sent.length, 2);
    const { store, run } = clientOf([broken, limited]);
    await assert.rejects(run(store.pets.update(1, body)), WaitTooLongError);
    await assert.rejects(clientOf(limited).store.pets.create(body), WaitTooLongError);
    const end = new AbortController();
    const cancelled = clientOf(broken).store.pets.create(body, { signal: end.signal });
    await settle();
    end.abort();
    await assert.rejects(cancelled, { name: 'AbortError' });
  });

  it('waits at least as long as Retry-After', async () => {
    const { store, run, sent } = clientOf([unavailable({ 'retry-after': '7' }), success]);
    await run(store.pets.list().first());
    const [gap] = gaps(sent);
    assert.ok(gap! >= 7 * SECOND && gap! <= 8 * SECOND + 1, `${gap} ms`);
  });

  it('gives up after maxRetries, together with the calls that wait, but not with later ones', async () => {
    const { store, run, sent } = clientOf([...Array(7).fill(broken), success]);
    const calls = Array.from({ length: 5 }, () => store.pets.list().first());
    const results = await run(Promise.allSettled(calls));
    assert.equal(sent.length, 6);
    for (const result of results) {
      assert.ok(result.status === 'rejected' && result.reason instanceof ConnectionError);
      assert.match(
        result.reason.message,
        /^No response from http:\/\/petstore\.example\/pets: Error: connect ECONNREFUSED$/,
      );
    }
    const options = { maxRetries: 10 };
    assert.equal(await run(store.pets.list({}, options).first()), undefined);
    assert.equal(sent.length, 8);
  });

  it('throws the error of the service if Retry-After is longer than maxWait', async t => {
    t.mock.timers.enable({ apis: ['Date'] });
    const { store, sent } = clientOf([unavailable({ 'retry-after': '61' }), success]);
    await assert.rejects(store.pets.list().first(), error => {
      assert.ok(error instanceof ServerError);
      assert.deepEqual([error.code, error.status], ['service_unavailable', 503]);
      assert.equal(error.retryAt!.getTime(), Date.now() + 61 * SECOND);
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
    const again = clientOf([inUse, pet]);
    assert.equal((await again.run(again.store.pets.create({ name: 'Rex', categoryId: 1 }))).id, 1);

    const conflict = clientOf(json(409, { code: 'category_in_use', message: 'In use', status: 409 }));
    await assert.rejects(conflict.store.categories.delete(1), ConflictError);
    const failed = clientOf(json(500, { code: 'internal_error', message: 'Failed', status: 500 }));
    await assert.rejects(failed.store.pets.list().first(), ServerError);
    assert.deepEqual([conflict.sent.length, failed.sent.length], [1, 1]);
  });

  it('lets only the call wait whose Idempotency-Key is in use', async () => {
    const inUse = json(
      409,
      { code: 'idempotency_key_in_use', message: 'In use', status: 409 },
      { 'x-should-retry': 'true', ratelimit: '"minute";r=50;t=30' },
    );
    const { store, run, sent, waits } = clientOf([success, inUse, success, inUse, pet]);
    await store.pets.list().first();
    const created = store.pets.create({ name: 'Rex', categoryId: 1 });
    await settle();
    await run(store.pets.list().first());
    assert.equal((await run(created)).id, 1);
    assert.deepEqual(waits, []);
    const [first, second] = gaps(sent).slice(2);
    assert.ok(first! > 0 && first! <= SECOND + 1 && second! > 0 && second! <= 2 * SECOND + 1);

    const always = clientOf(inUse, { maxRetries: 2 });
    const rejected = always.run(always.store.pets.create({ name: 'Rex', categoryId: 1 }));
    await assert.rejects(rejected, ConflictError);
    assert.equal(always.sent.length, 3);
    const once = always.store.pets.create({ name: 'Rex', categoryId: 1 }, { maxRetries: 0 });
    await assert.rejects(always.run(once), ConflictError);
    assert.equal(always.sent.length, 4);
    const end = new AbortController();
    const ended = always.store.pets.create({ name: 'Rex', categoryId: 1 }, { signal: end.signal });
    await settle();
    end.abort();
    await assert.rejects(ended, { name: 'AbortError' });
    assert.equal(always.time.timers, 0);
  });

  it('doubles the pauses of a call whose Idempotency-Key is in use, and has none of them after another failure', async () => {
    const inUse = json(
      409,
      { code: 'idempotency_key_in_use', message: 'In use', status: 409 },
      { 'x-should-retry': 'true' },
    );
    const { store, run, sent, time } = clientOf([inUse, inUse, broken, pet]);
    time.random = () => 1;
    await run(store.pets.create({ name: 'Rex', categoryId: 1 }));
    assert.deepEqual(
      gaps(sent),
      [1, 2, 1].map(seconds => seconds * SECOND),
    );
  });

  it('retries the responses of proxies that cannot reach it', async () => {
    const responses = [502, 504].map(status => () => new Response('<h1>Bad gateway</h1>', { status }));
    const { store, run, sent } = clientOf([...responses, success]);
    await run(store.pets.list().first());
    assert.equal(sent.length, 3);
    await assert.rejects(clientOf(responses, { maxRetries: 0 }).store.pets.list().first(), error => {
      assert.ok(error instanceof ServerError);
      assert.deepEqual([error.code, error.status], [undefined, 502]);
      return true;
    });
  });

  it('treats a response that does not arrive within the timeout as a broken connection', async () => {
    const { store, time, run, sent } = clientOf(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          queueMicrotask(() => time.advance(5_000));
        }),
      { timeout: 5_000, maxRetries: 1 },
    );
    const work = run(store.pets.list().first());
    await assert.rejects(work, error => {
      assert.ok(error instanceof ConnectionError);
      assert.equal(error.message, 'No response from http://petstore.example/pets within 5000 ms');
      return true;
    });
    assert.equal(sent.length, 2);
  });
});

describe('a 429', () => {
  it('stops all calls until Retry-After has passed, and then one call goes first', async () => {
    const rejected = rejection({ 'retry-after': '20', ratelimit: '"minute";r=0;t=20' });
    const { store, run, sent, waits } = clientOf([success, ...Array(10).fill(rejected), success]);
    const calls = Array.from({ length: 100 }, () => store.pets.list().first());
    await run(Promise.all(calls));
    assert.equal(sent.length, 1 + 10 + 100 - 1);
    const [pause] = gaps(sent).slice(10);
    assert.ok(pause! >= 20 * SECOND && pause! <= 21 * SECOND + 1, `${pause} ms`);
    assert.equal(waits.length, 1);
    assert.equal(waits[0]!.error?.code, 'rate_limit_exceeded');
  });

  it('about something else than requests concerns only its call', async () => {
    const streams = rejection({ 'retry-after': '5', ratelimit: '"minute";r=50;t=30' }, 'too_many_streams');
    const { store, sent, waits } = clientOf([streams, success]);
    await assert.rejects(store.pets.list().first(), error => {
      assert.ok(error instanceof RateLimitError);
      assert.equal(error.code, 'too_many_streams');
      return true;
    });
    assert.equal(await store.pets.list().first(), undefined);
    assert.deepEqual([sent.length, waits.length], [2, 0]);
  });

  it('with a date is obeyed by the clock of its server, not of this machine', async () => {
    const dates = { date: 'Wed, 21 Oct 2015 07:28:00 GMT', 'retry-after': 'Wed, 21 Oct 2015 07:28:30 GMT' };
    const { store, run, sent } = clientOf([rejection(dates), success]);
    await run(store.pets.list().first());
    const [gap] = gaps(sent);
    assert.ok(gap! >= 30 * SECOND && gap! <= 31 * SECOND + 1, `${gap} ms`);
  });

  it('with a date and without Date is obeyed by the clock of this machine', async t => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-11-21T12:00:00Z') });
    const end = new Date(Date.now() + 30 * SECOND).toUTCString();
    const { store, run, sent } = clientOf([rejection({ 'retry-after': end }), success]);
    await run(store.pets.list().first());
    const [gap] = gaps(sent);
    assert.ok(gap! >= 30 * SECOND && gap! <= 31 * SECOND + 1, `${gap} ms`);
  });

  it('of another server without the headers of the service is obeyed as well', async () => {
    const { store, run, sent } = clientOf([rejection({}), success]);
    await run(store.pets.list().first());
    assert.ok(gaps(sent)[0]! >= SECOND);
  });
});

describe('a client of a server with senseless headers', () => {
  const senseless = (status: number, headers: Record<string, string>) =>
    clientOf(status === 429 ? rejection(headers) : json(status, [], headers), { maxWait: HOUR });

  for (const seconds of ['99999999999999999999', '9'.repeat(400)]) {
    it(`throws WaitTooLongError after Retry-After with ${seconds.length} digits`, async () => {
      const { store } = senseless(429, { 'retry-after': seconds });
      await assert.rejects(store.pets.list().first(), WaitTooLongError);
      await assert.rejects(store.pets.list().first(), WaitTooLongError);
      assert.equal(store.limits.waiting, 0);
    });
  }

  it('throws WaitTooLongError in a window without an end', async () => {
    const { store } = senseless(200, { ratelimit: `"day";r=0;t=${'9'.repeat(30)}` });
    assert.equal(await store.pets.list().first(), undefined);
    await assert.rejects(store.pets.list().first(), WaitTooLongError);
    assert.equal(store.limits.waiting, 0);
  });

  for (const wait of ['-5', 'Wed, 21 Oct 2015 07:28:00 GMT', 'soon']) {
    it(`waits for a second after Retry-After: ${wait}`, async () => {
      const { store, waits, sent } = senseless(429, { 'retry-after': wait });
      const signal = new AbortController();
      const call = store.pets.list({}, { signal: signal.signal }).first();
      while (waits.length === 0) await new Promise(setImmediate);
      signal.abort(new Error('enough'));
      await assert.rejects(call, /enough/);
      assert.equal(sent.length, 1);
      const [{ milliseconds }] = waits as [Wait];
      assert.ok(milliseconds >= SECOND && milliseconds <= 2 * SECOND, `${milliseconds} ms`);
    });
  }

  it('has no retryAt without a time', async () => {
    const headers = { 'retry-after': 'soon', 'x-should-retry': 'false' };
    const { store } = senseless(503, headers);
    await assert.rejects(store.pets.list().first(), { status: 503, retryAt: undefined });
  });
});

describe('a client with senseless settings', () => {
  it('throws for an API key that no header can have, without showing it', () => {
    for (const apiKey of ['psk_\nx', '日本']) {
      assert.throws(
        () => new PetStore({ baseUrl: 'http://petstore.example', apiKey }),
        (error: Error) => error instanceof PetStoreError && !error.message.includes(apiKey),
      );
    }
  });

  it('throws for numbers with which calls would wait for ever, such as that of a variable that is not set', () => {
    for (const [settings, message] of [
      [{ maxConcurrent: 0 }, 'maxConcurrent is 0, not a number from 1'],
      [{ maxRetries: Number(undefined) }, 'maxRetries is NaN, not a number from 0'],
      [{ maxWait: Number(undefined) }, 'maxWait is NaN, not a number from 0'],
      [{ timeout: -1 }, 'timeout is -1, not a number from 0'],
    ] as const)
      assert.throws(() => new PetStore({ baseUrl: 'http://petstore.example', ...settings }), { message });
  });

  it('has no timeout with Infinity', async () => {
    const { store } = clientOf(
      // Timers run in the order of their ends: one that ran at once would abort this request first.
      ({ signal }) =>
        new Promise((resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          setTimeout(() => resolve(success()), 20);
        }),
      { timeout: Number.POSITIVE_INFINITY, maxRetries: 0, clock: systemClock },
    );
    assert.equal(await store.pets.list().first(), undefined);
  });
});
