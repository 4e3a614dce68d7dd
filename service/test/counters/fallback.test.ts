import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Decision, Terms } from '../../src/counters/decide.ts';
import { unpackState } from '../../src/counters/packed-state.ts';
import { RedisLink } from '../../src/counters/redis-link.ts';
import { DAY, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { ownRedis } from '../support/redis-process.ts';
import { testRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { aReplica, type Replica } from './replicas.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');

const terms: Terms = {
  limits: { perMinute: 5, perDay: 100 },
  bansLiftedAt: 0,
  banRules: { forgiveness: 0, strikes: 2, strikesWithin: MINUTE, durations: [10 * MINUTE], decay: DAY },
};

async function use({ counters }: Replica, keyId: number, requests: number): Promise<string[]> {
  const verdicts = [];
  for (let i = 0; i < requests; i++) verdicts.push((await counters.decideKey(keyId, terms, NOON)).verdict);
  return verdicts;
}

function untilShared({ counters }: Replica): Promise<void> {
  return until('the counters are shared again', () => counters.status() === 'shared');
}

/** Returns the result of work. Throws if it waits for Redis or for a timer, because it then ends in a later turn of the event loop. */
function atOnce<T>(work: Promise<T>): Promise<T> {
  const later = nextTurn().then(() => Promise.reject(new Error('The work waits')));
  return Promise.race([work, later]);
}

describe('while Redis is down', () => {
  it('a ban that starts is still in force once Redis is back', async t => {
    const server = await ownRedis(t);
    const [a, b] = [await aReplica(t, server.url), await aReplica(t, server.url)];
    await server.kill();
    assert.equal((await use(a, 1, 7)).at(-1), 'banned');
    await server.start();
    await Promise.all([untilShared(a), untilShared(b)]);
    await until(
      'the other replica has the ban',
      async () => (await b.counters.statesOfKeys([{ keyId: 1, resets: 0 }])).get(1)?.bans === 1,
    );
    assert.deepEqual(await use(b, 1, 1), ['banned']);
  });

  it('a request counts as several if it is a batch, and the state of its key is shown', async t => {
    const { url } = await testRedis(t);
    const { counters } = await aReplica(t, url);
    await counters.close();
    assert.equal((await counters.decideKey(1, terms, NOON, 3)).remaining, 2);
    const states = await counters.statesOfKeys([{ keyId: 1, resets: 0 }]);
    assert.equal(states.get(1)?.minuteUsed, 3);
  });

  it('a starting replica serves from memory and connects later', async t => {
    const server = await ownRedis(t);
    await server.kill();
    const replica = await aReplica(t, server.url);
    assert.match(replica.statuses[0]![1]!, /ECONNREFUSED/);
    assert.deepEqual(await use(replica, 1, 1), ['admitted']);
    await server.start();
    await untilShared(replica);
    assert.equal((await replica.counters.decideKey(1, terms, NOON)).remaining, 3);
  });
});

it('the first request after a lost connection is decided with the counts from before it and from the meantime', async t => {
  const server = await ownRedis(t);
  const admin = new Redis(server.url, { disconnectTimeout: 1 });
  t.after(() => admin.disconnect());
  let first: Promise<Decision> | undefined;
  const { counters } = await aReplica(t, server.url, {
    onStatus: status => {
      for (let i = 0; i < 3; i++) {
        const decision = counters.decideKey(1, terms, NOON);
        if (status === 'shared') first ??= decision;
      }
    },
  });
  assert.equal((await counters.decideKey(1, terms, NOON)).remaining, 4);
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal');
  await until('the connection is back', () => first !== undefined);
  assert.equal((await first!).remaining, 0);
});

describe('while Redis hangs', () => {
  it('one request waits briefly, the others do not wait, and the service reconnects by itself', async t => {
    const marks = t.mock.method(RedisLink.prototype, 'mark');
    const server = await ownRedis(t);
    // Connecting and the first request must take less.
    const replica = await aReplica(t, server.url, { timeout: 5 * SECOND });
    await use(replica, 1, 1);
    await marks.mock.calls[0]!.result;
    server.pause();
    const [first, ...others] = Array.from({ length: 20 }, () => use(replica, 1, 1));
    const verdicts = [await first!, ...(await atOnce(Promise.all(others)))];
    assert.equal(verdicts.flat().filter(verdict => verdict === 'admitted').length, 4);
    await atOnce(use(replica, 2, 100));
    assert.deepEqual(replica.statuses, [['fallback', 'Redis did not respond within 5000 ms']]);
    server.resume();
    await untilShared(replica);
    // Redis still has its data, and the replica what Redis has not counted: it sends that without a further request.
    const redis = new Redis(server.url, { disconnectTimeout: 1 });
    t.after(() => redis.disconnect());
    const used = async (keyId: number) => {
      const packed = await redis.get(`petstore:limits:{key:${keyId}}`);
      return packed ? unpackState(packed).minuteUsed : 0;
    };
    await until('Redis has the counts', async () => (await used(1)) === 5 && (await used(2)) === 5);
  });

  it('a command that has its response is not waited for', async t => {
    const { url } = await testRedis(t);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let running = 0;
    const onCommand = () => {
      running++;
      return () => void running--;
    };
    const replica = await aReplica(t, url, { timeout: SECOND, onCommand });
    const now = performance.now.bind(performance);
    let ahead = 0;
    t.mock.method(performance, 'now', () => now() + ahead);
    await use(replica, 1, 1);
    // The replica also looks for the mark.
    while (running > 0) await nextTurn();
    // Twice: a timer that is late does not count.
    for (ahead = SECOND; ahead <= 2 * SECOND; ahead += SECOND) t.mock.timers.tick(SECOND);
    assert.deepEqual(replica.statuses, []);
  });

  it('the counters close at once', async t => {
    const server = await ownRedis(t);
    const replica = await aReplica(t, server.url);
    server.pause();
    const waiting = use(replica, 1, 1);
    await atOnce(replica.counters.close());
    assert.deepEqual(await atOnce(waiting), ['admitted']);
    server.resume();
  });
});

describe('a Redis that returns an error', () => {
  it('because it is read-only is unavailable until it accepts writes', async t => {
    const server = await ownRedis(t);
    const replica = await aReplica(t, server.url);
    const admin = new Redis(server.url, { disconnectTimeout: 1 });
    t.after(() => admin.disconnect());
    await use(replica, 1, 1);
    await admin.replicaof('127.0.0.1', 1);
    assert.deepEqual(await use(replica, 1, 1), ['admitted']);
    assert.match(replica.statuses[0]![1]!, /READONLY/);
    await admin.replicaof('NO', 'ONE');
    await untilShared(replica);
    assert.equal((await replica.counters.decideKey(1, terms, NOON)).remaining, 2);
  });

  it('for one command is reported, and the request is decided', async t => {
    const { url, redis } = await testRedis(t);
    const replica = await aReplica(t, url);
    await redis.rpush('petstore:limits:{key:1}', 'no text');
    assert.deepEqual(await use(replica, 1, 1), ['admitted']);
    assert.match(replica.statuses[0]![1]!, /WRONGTYPE/);
  });

  it('because the password is wrong is reported without the password', async t => {
    const { url, port } = await ownRedis(t);
    const admin = new Redis(url, { disconnectTimeout: 1 });
    await admin.config('SET', 'requirepass', 'correct-horse');
    admin.disconnect();
    const rejected = await aReplica(t, `redis://:wrong-horse@127.0.0.1:${port}`);
    assert.match(rejected.statuses[0]![1]!, /WRONGPASS/);
    assert.doesNotMatch(JSON.stringify(rejected.statuses), /horse/);
    const { counters } = await aReplica(t, `redis://default:correct-horse@127.0.0.1:${port}`);
    assert.equal(counters.status(), 'shared');
  });

  it('because its scripts were flushed receives the script again', async t => {
    const server = await ownRedis(t);
    const replica = await aReplica(t, server.url);
    const admin = new Redis(server.url, { disconnectTimeout: 1 });
    t.after(() => admin.disconnect());
    await use(replica, 1, 1);
    await admin.script('FLUSH');
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => use(replica, 1, 1)));
    assert.equal(verdicts.flat().filter(verdict => verdict === 'admitted').length, 4);
    assert.deepEqual(replica.statuses, []);
  });
});
