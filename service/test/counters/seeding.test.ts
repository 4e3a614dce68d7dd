import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { type Decision, newState, type Terms } from '../../src/counters/decide.ts';
import type { CountedKey } from '../../src/counters/key-states.ts';
import { unpackState } from '../../src/counters/packed-state.ts';
import type { SharedCounters } from '../../src/counters/redis.ts';
import { RedisLink } from '../../src/counters/redis-link.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { Intervals } from '../support/intervals.ts';
import { ownRedis } from '../support/redis-process.ts';
import { testRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';
import { aReplica } from './replicas.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const MARK = 'petstore:limits:{mark}';
const KEY = 'petstore:limits:{key:1}';

const banRules = {
  forgiveness: 0,
  strikes: 2,
  strikesWithin: MINUTE,
  durations: [10 * MINUTE],
  decay: 5 * DAY,
};
const terms: Terms = { limits: { perMinute: 10, perDay: 100 }, bansLiftedAt: 0, banRules: undefined };
const bannable: Terms = { ...terms, limits: { perMinute: 5, perDay: 100 }, banRules };
const single: Terms = { ...terms, limits: { perMinute: 1, perDay: 99 } };

interface Subject {
  /** Its key in Redis. */
  key: string;
  /** How long Redis stores it from noon on, in milliseconds. */
  expiry: number;
  decide: (counters: SharedCounters, i: number) => Promise<Decision>;
}

/** An hour after the end of the day, for all but keys. */
const TODAY = DAY / 2 + HOUR;

const visit = { key: terms, visitor: terms };

const subjects: Record<string, Subject> = {
  'a key': { key: KEY, expiry: 2 * DAY, decide: counters => counters.decideKey(1, terms, NOON) },
  'a key whose limits were reset': {
    key: 'petstore:limits:{key:2}:7',
    expiry: 2 * DAY,
    decide: counters => counters.decideKey(2, { ...terms, resets: 7 }, NOON),
  },
  'an address': {
    key: 'petstore:limits:{address:2001:db8:0:1::/64}',
    expiry: TODAY,
    decide: counters => counters.decideBucket('address', '2001:db8:0:1::/64', terms, NOON),
  },
  'the account of a key': {
    key: 'petstore:limits:{account:1}',
    expiry: TODAY,
    decide: counters => counters.decideBucket('account', '1', terms, NOON),
  },
  'a publishable key': {
    key: 'petstore:limits:{key:3}',
    expiry: 2 * DAY,
    decide: counters => counters.decideVisit(3, '192.0.2.1', visit, NOON),
  },
  'a visitor': {
    key: 'petstore:limits:{key:4}:visitor:192.0.2.1',
    expiry: TODAY,
    decide: counters => counters.decideVisit(4, '192.0.2.1', visit, NOON),
  },
  'the network of a visitor': {
    key: 'petstore:limits:{key:5}:network:2001:db8:1::/48',
    expiry: TODAY,
    decide: (counters, i) => counters.decideVisit(5, `2001:db8:1:${i}::/64`, visit, NOON),
  },
};

/** How many requests of this minute Redis has counted for a subject. */
async function usedIn(redis: Redis, key: string): Promise<number> {
  return unpackState((await redis.get(key))!).minuteUsed;
}

/** Returns a replica when the mark is in Redis, which the replica writes after it has looked for it. */
async function markedReplica(t: TestContext, url: string, isMarked: () => Promise<boolean>) {
  const { counters } = await aReplica(t, url);
  await until('the mark exists', isMarked);
  return counters;
}

describe('the limits that replicas share in Redis', () => {
  for (const [name, { key, expiry, decide }] of Object.entries(subjects)) {
    it(`of ${name} expire, and continue when Redis loses this state or all of them`, async t => {
      // The other replica would find that Redis lost its data, and send what it knows, at any time between two requests.
      Intervals.hold(t);
      const { url, redis } = await testRedis(t);
      const replicas = [await aReplica(t, url), await aReplica(t, url)];
      let requests = 0;
      const usedAfter = async (replica: 0 | 1) => {
        assert.equal((await decide(replicas[replica]!.counters, requests++)).verdict, 'admitted');
        return usedIn(redis, key);
      };
      assert.deepEqual([await usedAfter(0), await usedAfter(1)], [1, 2]);
      const left = await redis.pttl(key);
      assert.ok(left <= expiry && left > expiry - MINUTE, `${key} expires in ${left} ms`);
      // The first replica has seen one request, and sends that.
      assert.equal(await redis.del(key), 1);
      assert.deepEqual([await usedAfter(0), await usedAfter(1)], [2, 3]);
      await redis.flushdb();
      assert.equal(await usedAfter(1), 4);
      await redis.set(key, 'corrupt');
      assert.equal(await usedAfter(1), 5);
      for (const { statuses } of replicas) assert.deepEqual(statuses, [], 'Redis decided all of them');
    });
  }

  it('continue from memory while Redis is down, and include those counts once it is back', async t => {
    const server = await ownRedis(t);
    const redis = new Redis(server.url, { lazyConnect: true, disconnectTimeout: 1 });
    t.after(() => redis.disconnect());
    const { counters, statuses } = await aReplica(t, server.url);
    const other = await aReplica(t, server.url);
    const decideAll = async (i: number) => {
      for (const { decide } of Object.values(subjects))
        assert.equal((await decide(counters, i)).verdict, 'admitted');
    };
    for (const i of [0, 1]) await decideAll(i);
    await server.kill();
    for (const i of [2, 3]) await decideAll(i);
    for (const [kind, name] of [
      ['address', '2001:db8:0:1::/64'],
      ['account', '1'],
    ] as const)
      assert.equal((await counters.peekBucket(kind, name, terms, NOON)).remaining, 6);
    await server.start();
    await until('the counters are shared again', () => counters.status() === 'shared');
    await until('the other replica has the counts, without a further request', async () => {
      const state = (await other.counters.statesOfKeys([{ keyId: 1, resets: 0 }])).get(1);
      return state?.minuteUsed === 4;
    });
    await decideAll(4);
    for (const { key } of Object.values(subjects)) assert.equal(await usedIn(redis, key), 5, key);
    assert.deepEqual(
      statuses.map(([status]) => status),
      ['fallback', 'shared'],
    );
  });

  it('use one slot of a cluster for each subject: the only hash tag of a key names it', async t => {
    const { url, redis } = await testRedis(t);
    const { counters } = await aReplica(t, url);
    for (const { decide } of Object.values(subjects)) await decide(counters, 1);
    const keys = (await redis.keys('*')).filter(key => !/\{(probe|mark)\}/.test(key));
    for (const { key } of Object.values(subjects)) assert.ok(keys.includes(key), key);
    const tags = keys.map(key => /^petstore:limits:(\{[^{}]+\})[^{}]*$/.exec(key)?.[1]);
    const named = ['{account:1}', '{address:2001:db8:0:1::/64}', ...[1, 2, 3, 4, 5].map(id => `{key:${id}}`)];
    assert.deepEqual([...new Set(tags)].toSorted(), named);
  });
});

describe('the states of keys', () => {
  it('are all sent again when another replica has found that Redis lost its data, however many', async t => {
    const intervals = Intervals.watch(t);
    const { url, redis } = await testRedis(t);
    const counters = await markedReplica(t, url, async () => (await redis.exists(MARK)) === 1);
    for (let keyId = 1; keyId <= 1_200; keyId++)
      counters.keys.restore(keyId, { ...newState(NOON), dayUsed: keyId });
    await redis.multi().flushdb().set(MARK, 'the mark of the other replica').exec();
    // Without a request of a key: the replica looks for the mark once a second.
    intervals.run(SECOND);
    await until('Redis has all keys', async () => (await redis.dbsize()) === 1_201);
    const left = await redis.pttl(KEY);
    assert.ok(left <= 2 * DAY && left > 2 * DAY - MINUTE);
    assert.equal(await redis.pttl(MARK), -1);
    await counters.close();
    assert.deepEqual(intervals.delays, [], 'a closed replica looks for the mark no more');
  });

  it('are all sent again when Redis loses its data again while they are being sent', async t => {
    const intervals = Intervals.watch(t);
    const marks = t.mock.method(RedisLink.prototype, 'mark');
    const { url, redis } = await testRedis(t);
    const counters = await markedReplica(t, url, async () => (await redis.exists(MARK)) === 1);
    for (let keyId = 1; keyId <= 1_200; keyId++)
      counters.keys.restore(keyId, { ...newState(NOON), dayUsed: keyId });
    const loseAll = async (mark: string) => {
      await redis.multi().flushdb().set(MARK, mark).exec();
      intervals.run(SECOND);
      await marks.mock.calls.at(-1)!.result;
    };
    const { statesOfKeys } = counters;
    const sent: number[] = [];
    t.mock.method(counters, 'statesOfKeys', async (keys: readonly CountedKey[]) => {
      const states = await statesOfKeys.call(counters, keys);
      sent.push(keys.length);
      if (sent.length === 1) await loseAll('the second mark of another replica');
      return states;
    });
    await loseAll('the mark of another replica');
    await until('all were sent', () => sent.length === 4);
    assert.deepEqual([await redis.dbsize(), sent], [1_201, [500, 500, 500, 200]]);
  });

  it('are counted once each in a burst that finds nothing', async t => {
    const { url, redis } = await testRedis(t);
    const counters = await markedReplica(t, url, async () => (await redis.exists(MARK)) === 1);
    for (let i = 0; i < 3; i++) await counters.decideKey(1, terms, NOON);
    await redis.del(KEY);
    const burst = await Promise.all(Array.from({ length: 20 }, () => counters.decideKey(1, terms, NOON)));
    assert.equal(burst.filter(({ verdict }) => verdict === 'admitted').length, 7);
    const { dayUsed, dayRejected } = (await counters.statesOfKeys([{ keyId: 1, resets: 0 }])).get(1)!;
    assert.deepEqual([dayUsed, dayRejected], [10, 13]);
  });

  it('are counted and shown by the clock of Redis, whatever the clock of the replica', async t => {
    const { url, redis } = await testRedis(t);
    const { counters } = await aReplica(t, url, { clock: 'redis' });
    const late = Date.now() - 3 * DAY - 6 * HOUR;
    const twice: Terms = { ...terms, limits: { perMinute: 10, perDay: 2 } };
    const visits = { key: terms, visitor: twice };
    for (const remaining of [1, 0]) {
      assert.equal((await counters.decideBucket('account', '1', twice, late)).remaining, remaining);
      assert.equal((await counters.decideKey(1, twice, late)).remaining, remaining);
      assert.equal((await counters.decideVisit(2, '192.0.2.1', visits, late)).remaining, remaining);
    }
    for (const key of ['petstore:limits:{account:1}', 'petstore:limits:{key:2}:visitor:192.0.2.1']) {
      const expiresAt = Date.now() + (await redis.pttl(key));
      assert.equal(Math.round((expiresAt % DAY) / HOUR), 1, `${key}: an hour after the end of the day`);
    }
    assert.equal((await counters.peekBucket('account', '1', twice, late)).remaining, 0);
    assert.equal(counters.peekVisit(2, '192.0.2.1', visits, late).remaining, 0);
    await counters.close();
    const byMemory = [
      await counters.decideBucket('account', '1', twice, late),
      await counters.decideKey(1, twice, late),
      await counters.decideVisit(2, '192.0.2.1', visits, late),
    ];
    assert.deepEqual(valuesOf(byMemory, 'verdict'), ['refused', 'refused', 'refused']);
  });

  it('keep a ban that Redis has lost, until a day after it has decayed', async t => {
    const { url, redis } = await testRedis(t);
    const { counters } = await aReplica(t, url);
    for (let i = 0; i < 7; i++) await counters.decideKey(1, bannable, NOON);
    await redis.flushdb();
    assert.equal((await counters.decideKey(1, bannable, NOON + 9 * MINUTE)).verdict, 'banned');
    const left = await redis.pttl(KEY);
    assert.ok(left <= 6 * DAY + MINUTE && left > 6 * DAY);
  });

  it('are shown from the counts of the replica when nothing is decided', async t => {
    const { url, redis } = await testRedis(t);
    const counters = await markedReplica(t, url, async () => (await redis.exists(MARK)) === 1);
    await counters.decideKey(1, terms, NOON);
    await counters.decideBucket('account', '1', terms, NOON);
    await redis.del(KEY, 'petstore:limits:{account:1}');
    assert.equal((await counters.statesOfKeys([{ keyId: 1, resets: 0 }])).get(1)?.dayUsed, 1);
    assert.equal((await counters.peekBucket('account', '1', terms, NOON)).remaining, 9);
  });

  it('are sent once when they are shown, and then only read', async t => {
    const { url } = await testRedis(t);
    let sent = 0;
    let isMarked = false;
    const onCommand = (command: string) => {
      if (command === 'EVALSHA') sent++;
      return () => {
        isMarked ||= command === 'SET';
      };
    };
    const { counters } = await aReplica(t, url, { onCommand });
    await until('the mark exists', () => isMarked);
    // The mark is read again, after which every state is sent.
    await counters.peekBucket('account', '1', terms, NOON);
    counters.keys.restore(1, newState(NOON));
    for (let i = 0; i < 3; i++) await counters.statesOfKeys([{ keyId: 1, resets: 0 }]);
    assert.equal(sent, 1);
  });

  it('that were restored at start are sent, unless Redis has later ones', async t => {
    const { url } = await testRedis(t);
    const [first, second] = [await aReplica(t, url), await aReplica(t, url)];
    for (const { counters } of [first, second])
      counters.keys.restore(1, { ...newState(NOON), minuteUsed: 3, dayUsed: 40 });
    assert.equal((await first.counters.decideKey(1, terms, NOON)).remaining, 6);
    assert.equal((await second.counters.decideKey(1, terms, NOON)).remaining, 5);
    assert.equal(second.counters.keys.find(1)?.dayUsed, 42);
  });
});

describe('the count of an address in a flood of others', () => {
  const keyOf = (address: string) => `petstore:limits:{address:${address}}`;

  it('expires within minutes unless it has used much, and still counts after a replica forgot it', async t => {
    const { url, redis } = await testRedis(t);
    const { counters } = await aReplica(t, url, { maxAddresses: 8 });
    const early = '192.0.2.1';
    for (let i = 0; i < 10; i++) await counters.decideBucket('address', early, terms, NOON + i * MINUTE);
    const now = NOON + HOUR;
    await counters.decideBucket('address', '192.0.2.2', terms, now);
    for (let i = 0; i < 100; i++) await counters.decideBucket('address', `10.0.0.${i}`, terms, now);
    assert.ok((await redis.pttl(keyOf('10.0.0.99'))) <= 3 * MINUTE);
    await counters.decideBucket('address', early, terms, now);
    assert.ok((await redis.pttl(keyOf(early))) > 10 * HOUR);
    assert.equal((await counters.peekBucket('address', '192.0.2.2', terms, now)).remaining, 9);
    assert.equal((await counters.decideBucket('address', '192.0.2.2', terms, now)).remaining, 8);
  });

  it('expires within minutes as well when they are visitors of a publishable key', async t => {
    const { url, redis } = await testRedis(t);
    const { counters } = await aReplica(t, url, { maxAddresses: 8 });
    const many = { key: { ...terms, limits: { perMinute: 100, perDay: 100 } }, visitor: terms };
    for (let i = 0; i < 9; i++) await counters.decideVisit(4, `10.0.0.${i}`, many, NOON);
    const left = await redis.pttl('petstore:limits:{key:4}:visitor:10.0.0.8');
    assert.ok(left > 0 && left <= 3 * MINUTE, String(left));
  });

  it('is shared by all new addresses, and by all new visitors, while the known ones must stay', async t => {
    const { url, redis } = await testRedis(t);
    const { counters } = await aReplica(t, url, { maxAddresses: 8 });
    const visits = { key: { ...terms, limits: { perMinute: 100, perDay: 100 } }, visitor: single };
    for (const decide of [
      (address: string) => counters.decideBucket('address', address, single, NOON),
      (address: string) => counters.decideVisit(4, address, visits, NOON),
    ]) {
      for (let i = 0; i < 8; i++) await decide(`192.0.2.${i}`);
      const verdicts = [];
      for (let i = 0; i < 100; i++) verdicts.push((await decide(`10.0.0.${i}`)).verdict);
      assert.equal(verdicts.filter(verdict => verdict === 'admitted').length, 1);
    }
    assert.deepEqual(await redis.keys('*10.0.0.*'), []);
    assert.equal((await counters.peekBucket('address', '10.0.0.200', single, NOON)).remaining, 0);
    assert.equal(counters.peekVisit(4, '10.0.0.200', visits, NOON).remaining, 0);
  });

  it('is shown with the requests of all replicas', async t => {
    const { url } = await testRedis(t);
    const busy: Terms = { ...terms, limits: { perMinute: 5, perDay: 10 } };
    const replicas = [
      await aReplica(t, url, { maxAddresses: 2 }),
      await aReplica(t, url, { maxAddresses: 2 }),
    ];
    for (const { counters } of replicas)
      for (let i = 0; i < 3; i++) await counters.decideBucket('address', `192.0.2.${i}`, busy, NOON);
    for (const { counters } of replicas)
      assert.equal((await counters.peekBucket('address', '10.0.0.1', busy, NOON)).remaining, 3);
  });
});
