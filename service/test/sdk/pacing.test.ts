import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Wait } from '../../../sdk/src/index.ts';
import { MINUTE, SECOND } from '../../src/kit/clock.ts';
import { ClientTime } from '../support/client-time.ts';
import { importClient } from '../support/packed-client.ts';
import { type NewKey, startTestApp, type TestApp } from '../support/test-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { valuesOf } from '../support/values.ts';

const { PetStore, RateLimitError, WaitTooLongError } = await importClient();
type Store = InstanceType<typeof PetStore>;

interface Fixture {
  shop: TestApp;
  time: ClientTime;
  key: string;
  keyId: number;
  /** Another client of the same key, as a further process would have it. */
  newStore: (options?: Partial<ConstructorParameters<typeof PetStore>[0]>) => Store;
  /** The statuses of all requests of the key, by the minute in which the service received them. */
  minutes: () => number[][];
  /** The waits that `onWait` reported. */
  waits: Wait[];
}

async function start(
  t: { after: (release: () => Promise<void>) => void },
  { plan = 'free', start, ...key }: NewKey & { start?: number } = {},
): Promise<Fixture> {
  const clock = new TestClock(start);
  // `fetch` keeps its connections.
  const shop = await startTestApp(t, { alone: false, clock });
  const { key: apiKey, keyId } = await shop.clientWith({ plan, ...key });
  const time = new ClientTime(clock);
  const first = Math.floor(clock.now() / MINUTE);
  const minutes: number[][] = [];
  const waits: Wait[] = [];
  const newStore: Fixture['newStore'] = options =>
    new PetStore({
      baseUrl: shop.origin,
      apiKey,
      clock: time,
      onWait: wait => waits.push(wait),
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        const minute = Math.floor(clock.now() / MINUTE) - first;
        minutes[minute] ??= [];
        minutes[minute].push(response.status);
        return response;
      },
      ...options,
    });
  return { shop, time, key: apiKey, keyId, newStore, minutes: () => minutes, waits };
}

/** Starts workers of each store, which share the jobs of a range. A job creates the category of its number. */
async function work(stores: readonly Store[], workers: number, jobs: number, from = 0): Promise<void> {
  let next = from;
  const run = async (store: Store) => {
    while (next < jobs) await store.categories.create({ name: `Category ${next++}` });
  };
  await Promise.all(stores.flatMap(store => Array.from({ length: workers }, () => run(store))));
}

/** Asserts that each job was done exactly once, and that the key was not banned. */
async function assertDoneOnce({ shop, keyId }: Pick<Fixture, 'shop' | 'keyId'>, jobs: number): Promise<void> {
  const store = new PetStore({ baseUrl: shop.origin, apiKey: shop.adminKey });
  const names: string[] = [];
  for await (const { name } of store.categories.list({ limit: 100 })) names.push(name);
  assert.deepEqual(names.toSorted(), Array.from({ length: jobs }, (_, i) => `Category ${i}`).toSorted());
  assert.equal((await store.keys.get(keyId)).ban, null);
}

const countOf = (minutes: readonly number[][], wanted: (status: number) => boolean): number =>
  minutes.flat().filter(wanted).length;

describe('100 workers of a client', () => {
  for (const [name, offset] of [
    ['whose clock agrees with that of the service', 0],
    ['whose clock is 5 minutes ahead', -5 * MINUTE],
    ['whose clock is 5 minutes behind', 5 * MINUTE],
  ] as const) {
    it(`${name} use the whole quota of each minute, and send no request in vain`, async t => {
      const started = await start(t, { start: Date.now() + offset });
      const store = started.newStore();
      await started.time.run(work([store], 100, 240), [store]);
      await assertDoneOnce(started, 240);
      const minutes = started.minutes();
      assert.equal(minutes.flat().length, 240);
      // The first minute has begun when the test starts, and every request of it counts.
      assert.deepEqual(valuesOf(minutes, 'length'), [60, 60, 60, 60]);
      assert.deepEqual(
        valuesOf(started.waits, 'reason', 'error'),
        Array.from({ length: 3 }, () => ['limit', undefined]),
      );
    });
  }

  it('send the first request of each minute alone, and then as many as the minute has left', async t => {
    const started = await start(t, {
      plan: 'enterprise',
      quotas: { perMinute: 5, perDay: 1_000 },
    });
    let inFlight = 0;
    const most: number[] = [];
    const store = started.newStore({
      fetch: async (url, init) => {
        const minute = Math.floor(started.shop.clock.now() / MINUTE);
        most[minute] = Math.max(most[minute] ?? 0, ++inFlight);
        const response = await fetch(url, init);
        inFlight--;
        assert.equal(response.status, 201);
        return response;
      },
    });
    await started.time.run(work([store], 100, 20), [store]);
    await assertDoneOnce(started, 20);
    assert.ok(Math.max(...Object.values(most)) <= 4, `${Object.values(most)} were in flight`);
  });

  it('use the whole quota for batches as well, which count as their operations', async t => {
    const started = await start(t);
    const store = started.newStore();
    const batch = (first: number) => ({
      operations: Array.from({ length: 20 }, (_, i) => ({
        method: 'POST' as const,
        path: '/categories',
        body: { name: `Category ${first + i}` },
      })),
    });
    const jobs = Array.from({ length: 12 }, (_, i) => store.batches.create(batch(i * 20)));
    await started.time.run(Promise.all(jobs), [store]);
    await assertDoneOnce(started, 240);
    assert.deepEqual(started.minutes(), Array(4).fill([200, 200, 200]));
  });

  it('never send a batch in vain for which the minute has no room', async t => {
    const started = await start(t);
    const store = started.newStore();
    await started.time.run(work([store], 1, 45), [store]);
    const operations = Array.from({ length: 15 }, (_, i) => ({
      method: 'POST' as const,
      path: '/categories',
      body: { name: `Category ${46 + i}` },
    }));
    // The minute has room for the batch until the other request has been sent.
    const both = [work([store], 1, 46, 45), store.batches.create({ operations })];
    await started.time.run(Promise.all(both), [store]);
    await assertDoneOnce(started, 61);
    assert.deepEqual(started.minutes(), [Array(46).fill(201), [200]]);
  });

  it('complete every job although another client of the key gets it banned', async t => {
    const started = await start(t);
    const { shop, time, key, newStore, waits } = started;
    const store = newStore();
    await time.run(work([store], 100, 20), [store]);
    // It continues to call after a 429.
    const other = shop.api.as(key);
    for (let code = ''; code !== 'api_key_banned'; ) {
      const { status, body } = await other.get('/pets');
      if (status === 429) time.advance(3 * SECOND);
      code = body.code;
    }
    await time.run(work([store], 100, 120, 20), [store]);
    await assertDoneOnce(started, 120);
    const bans = waits.filter(({ reason }) => reason === 'ban');
    assert.deepEqual(
      bans.map(({ error }) => error?.code),
      ['api_key_banned'],
    );
    const rejected = countOf(started.minutes(), status => status === 429);
    assert.ok(rejected <= 10, `${rejected} of its requests were rejected`);
  });

  it('of several processes that share a key are never banned', async t => {
    const started = await start(t);
    const stores = [started.newStore(), started.newStore(), started.newStore()];
    await started.time.run(work(stores, 100, 240), stores);
    await assertDoneOnce(started, 240);
    const rejected = countOf(started.minutes(), status => status === 429);
    assert.ok(rejected < 240 / 4, `${rejected} requests were rejected`);
  });

  it('complete every job once while the service restarts', async t => {
    const clock = new TestClock();
    const shop = await startTestApp(t, { alone: false, clock });
    const { key: apiKey, keyId } = await shop.clientWith({ plan: 'pro' });
    const time = new ClientTime(clock);
    let origin = shop.origin;
    let responses = 0;
    let restarting: Promise<void> | undefined;
    const waits: Wait[] = [];
    const store = new PetStore({
      baseUrl: shop.origin,
      apiKey,
      clock: time,
      onWait: wait => waits.push(wait),
      fetch: async (url, init) => {
        try {
          const response = await fetch(url.replace(shop.origin, origin), init);
          // The service executes the request, and the connection breaks before the client has the response.
          if (++responses % 40 === 0) throw new TypeError('The connection broke');
          return response;
        } finally {
          // The time of the client does not pass while the service restarts.
          await restarting;
        }
      },
    });
    const jobs = work([store], 100, 200);
    const restart = async () => {
      while (responses < 50) await new Promise(setImmediate);
      restarting = shop.restart().then(restarted => {
        ({ origin } = restarted);
      });
      await restarting;
    };
    await time.run(Promise.all([jobs, restart()]), [store]);
    await assertDoneOnce({ shop: { ...shop, origin }, keyId }, 200);
    assert.ok(waits.some(({ reason }) => reason === 'unavailable'));
  });
});

describe('a wait that is longer than maxWait', () => {
  it('throws at once with the time of the next try, and nothing is sent until then', async t => {
    const started = await start(t, { plan: 'enterprise', quotas: { perMinute: 100, perDay: 10 } });
    t.mock.timers.enable({ apis: ['Date'], now: started.shop.clock.now() });
    const store = started.newStore();
    const results = await started.time.run(
      Promise.allSettled(Array.from({ length: 30 }, () => store.pets.list().first())),
      [store],
    );
    const errors = results.flatMap(result => (result.status === 'rejected' ? [result.reason] : []));
    assert.equal(errors.length, 20);
    const midnight = new Date('2026-11-22T00:00:00Z').getTime();
    for (const error of errors) {
      assert.ok(error instanceof WaitTooLongError && error instanceof RateLimitError);
      assert.equal(error.code, 'rate_limit_exceeded');
      const late = error.retryAt!.getTime() - midnight;
      assert.ok(late >= 0 && late <= SECOND, `retryAt is ${late} ms after midnight`);
    }
    assert.equal(started.minutes().flat().length, 10);
    await assert.rejects(started.time.run(store.pets.list().first(), [store]), WaitTooLongError);
    assert.equal(started.minutes().flat().length, 10);
    assert.deepEqual(started.waits, [], 'no call waits');
    const [day] = store.limits.windows;
    assert.deepEqual([day!.name, day!.limit, day!.remaining], ['day', 10, 0]);
    assert.equal(store.limits.wait!.reason, 'limit');

    started.time.advance(12 * 60 * MINUTE + SECOND);
    assert.equal(await started.time.run(store.pets.list().first(), [store]), undefined);
  });

  it('concerns only calls with such a maxWait', async t => {
    const started = await start(t, { plan: 'enterprise', quotas: { perMinute: 1, perDay: 10 } });
    const store = started.newStore();
    await store.pets.list().first();
    const impatient = store.pets.list({}, { maxWait: 0 }).first();
    await assert.rejects(started.time.run(impatient, [store]), WaitTooLongError);
    assert.equal(await started.time.run(store.pets.list().first(), [store]), undefined);
    assert.equal(started.waits.length, 1);
    const [{ reason, milliseconds }] = started.waits as [Wait];
    assert.equal(reason, 'limit');
    assert.ok(milliseconds > 0 && milliseconds <= 62 * SECOND, `${milliseconds} ms`);
  });

  it('ends with the signal of a call', async t => {
    const started = await start(t, { plan: 'enterprise', quotas: { perMinute: 1, perDay: 10 } });
    const store = started.newStore();
    await store.pets.list().first();
    const end = new AbortController();
    const call = store.categories.create({ name: 'Later' }, { signal: end.signal });
    const reason = new Error('not needed any more');
    end.abort(reason);
    await assert.rejects(call, reason);
    assert.equal(started.minutes().flat().length, 1);
    assert.equal(store.limits.waiting, 0);
  });
});
