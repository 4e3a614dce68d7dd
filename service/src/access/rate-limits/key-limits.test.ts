import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Counters } from '../../counters/counters.ts';
import { newState } from '../../counters/decide.ts';
import type { CountedKey } from '../../counters/key-states.ts';
import { MemoryCounters } from '../../counters/memory.ts';
import { DatabaseUnavailable, type Statements, type Transaction, type Writer } from '../../db/database.ts';
import { DAY, MINUTE } from '../../kit/clock.ts';
import { type AccessOptions, accessFeature } from '../feature.ts';
import { warnOfExpiry } from '../key-warnings/expiry-warnings.ts';
import { Rejections } from '../rejections/rejections.ts';
import { KeyLimits } from './key-limits.ts';
import { KeyUses } from './key-uses.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const terms = { limits: { perMinute: 10, perDay: 100 }, bansLiftedAt: 0, banRules: undefined };
const banRules = { forgiveness: 0, strikes: 2, strikesWithin: 60_000, durations: [60_000], decay: 60_000 };

/** The limits of 450 keys that made a request each, over a store that records how many keys each transaction writes. */
function usedKeys() {
  const counters = new MemoryCounters();
  const written: number[] = [];
  /** Replaces the next transactions. */
  const transactions: (() => Promise<void>)[] = [];
  const db = {
    engine: 'sqlite',
    write: async (work: (tx: Transaction) => Promise<void>) => {
      let keys = 0;
      const tx = {
        engine: 'sqlite',
        lock: async () => {},
        get: async () => undefined,
        all: async () => [],
        run: async (sql: string, [rows]: readonly unknown[] = []) => {
          if (/INTO key_limits/.test(sql)) keys += JSON.parse(String(rows)).length;
          return 0;
        },
      } as unknown as Transaction;
      await transactions.shift()?.();
      await work(tx);
      written.push(keys);
    },
  } as unknown as Statements & Writer;
  const keyLimits = new KeyLimits({ db, counters, banRules, onBan: () => {} });
  const useAll = () => {
    for (let keyId = 1; keyId <= 450; keyId++) void keyLimits.decide({ keyId, terms }, NOON);
  };
  useAll();
  return { db, counters, keyLimits, written, transactions, useAll };
}

/** The feature with this store and these limits, and the errors of its flushes. */
function featureWith(parts: Pick<AccessOptions, 'db' | 'keyLimits'>) {
  const errors: unknown[] = [];
  const feature = accessFeature({
    ...parts,
    clock: { now: () => NOON },
    flushInterval: 800,
    onFlushError: error => errors.push(error),
    rejections: new Rejections(),
    onlyReports: false,
    source: '/',
  });
  return { ...feature, errors };
}

it('who uses the keys is stored for all keys, at most 200 in a transaction, each after those of other replicas, and after a failure with the next flush', async () => {
  const written: (number | string)[] = [];
  let isDown = true;
  const lock = async (name: string) => written.push(name);
  const run = async (_sql: string, [rows]: readonly unknown[] = []) =>
    written.push(JSON.parse(String(rows)).length);
  const tx = { engine: 'sqlite', lock, run } as unknown as Transaction;
  const db = {
    write: (work: (tx: Transaction) => Promise<void>) => (isDown && written.length > 0 ? fail() : work(tx)),
  } as unknown as Statements & Writer;
  const uses = new KeyUses();
  for (let keyId = 1; keyId <= 401; keyId++) uses.add(keyId, NOON, '192.0.2.1', 'curl/8');
  await assert.rejects(uses.flush(db), DatabaseUnavailable);
  isDown = false;
  await uses.flush(db);
  await uses.flush(db);
  assert.deepEqual(written, ['key limits', 200, 'key limits', 200, 'key limits', 1]);
});

it('keys that expire are warned while no replica stores counts, which locks the same keys in a different order', async () => {
  const order: string[] = [];
  const lock = async (name: string) => order.push(name);
  const all = async () => {
    order.push('keys');
    return [];
  };
  const tx = { engine: 'sqlite', lock, all } as unknown as Transaction;
  const db = { write: (work: (tx: Transaction) => Promise<void>) => work(tx) } as unknown as Writer;
  await warnOfExpiry(db, NOON);
  assert.deepEqual(order, ['key limits', 'keys']);
});

/** Uses of keys, over a store that records the addresses that it writes. */
function recordedUses(onWrite = (_uses: KeyUses) => {}) {
  const uses = new KeyUses();
  const written: string[] = [];
  const run = async (_sql: string, [rows]: readonly unknown[] = []) => {
    for (const { address } of JSON.parse(String(rows))) written.push(address);
    onWrite(uses);
  };
  const tx = { engine: 'sqlite', lock: async () => {}, run } as unknown as Transaction;
  const db = { write: (work: (tx: Transaction) => Promise<void>) => work(tx) } as unknown as Statements &
    Writer;
  return { uses, db, written };
}

it('who uses a key in a new minute while an earlier use is stored is stored with the next flush', async () => {
  const { uses, db, written } = recordedUses(uses => uses.add(1, NOON + MINUTE, '192.0.2.2', undefined));
  uses.add(1, NOON, '192.0.2.1', undefined);
  await uses.flush(db);
  await uses.flush(db);
  assert.deepEqual(written, ['192.0.2.1', '192.0.2.2']);
});

it('who uses a key is stored, however many keys were used before', async () => {
  const { uses, db, written } = recordedUses();
  for (let keyId = 2; keyId <= 100_001; keyId++) uses.add(keyId, NOON, '192.0.2.1', undefined);
  uses.add(1, NOON, '192.0.2.2', undefined);
  await uses.flush(db);
  assert.equal(written.at(-1), '192.0.2.2');
});

it('the service starts after the stored limits are restored, and not when they cannot be read', async t => {
  const { db, keyLimits } = usedKeys();
  const { promise: loading, reject } = Promise.withResolvers<void>();
  t.mock.method(keyLimits, 'load', () => loading);
  const starting = featureWith({ db, keyLimits }).start!();
  assert.equal(await Promise.race([starting, nextTurn('pending')]), 'pending');
  reject(new DatabaseUnavailable(undefined));
  await assert.rejects(async () => starting, DatabaseUnavailable);
});

it('the counts of other processes are taken over for all keys after the start, at most 500 at once, as soon as Redis is available', async t => {
  const counters = new MemoryCounters();
  const db = { all: async () => [] } as unknown as Statements & Writer;
  const keyLimits = new KeyLimits({ db, counters, banRules, onBan: () => {} });
  const keyIds = Array.from({ length: 1_001 }, (_, i) => i + 1);
  for (const keyId of keyIds) counters.keys.restore(keyId, newState(NOON));
  await keyLimits.load(NOON);
  const asked: number[] = [];
  const status = t.mock.method(counters as Counters, 'status', () => 'shared');
  t.mock.method(counters, 'statesOfKeys', async (keys: readonly CountedKey[]) => {
    asked.push(keys.length);
    if (asked.length === 2) status.mock.mockImplementationOnce(() => 'fallback');
    const shared = { ...newState(NOON + 1), dayUsed: 7, seenAt: NOON + 1 };
    return new Map(keys.map(({ keyId }) => [keyId, shared]));
  });
  while (await keyLimits.catchUp());
  assert.deepEqual(asked, [500, 500], 'Redis is not available');
  while (await keyLimits.catchUp());
  assert.deepEqual(asked, [500, 500, 500, 1]);
  assert.ok(keyIds.every(keyId => counters.keys.find(keyId)?.dayUsed === 7));
});

describe('a sweep of limits has more to do', () => {
  for (const part of ['earlier days', 'later days', 'limits', 'states in memory', 'nothing']) {
    it(`after a full slice of ${part}`, async () => {
      const counters = new MemoryCounters();
      const db = {
        run: async (sql: string) => {
          const isFull =
            (part === 'earlier days' && /day < /.test(sql)) || (part === 'later days' && /day > /.test(sql));
          return isFull ? 500 : 499;
        },
        get: async () => ({ last: 7, keys: part === 'limits' ? 500 : 499, spent: 499 }),
      } as unknown as Statements & Writer;
      const keyLimits = new KeyLimits({ db, counters, banRules, onBan: () => {} });
      const inMemory = part === 'states in memory' ? 2_001 : 1_999;
      for (let keyId = 1; keyId <= inMemory; keyId++) counters.keys.restore(keyId, newState(NOON - 2 * DAY));
      assert.equal(await keyLimits.sweep(NOON), part !== 'nothing');
    });
  }
});

it('a sweep of limits checks the keys after those of its last slice, and begins again after the last key', async () => {
  const checkedAfter: unknown[] = [];
  const slices = [
    { last: 700, keys: 500, spent: 0 },
    { last: 900, keys: 499, spent: 0 },
    { last: 700, keys: 500, spent: 0 },
  ];
  const db = {
    run: async () => 0,
    get: async (_sql: string, values: readonly unknown[]) => {
      checkedAfter.push(values.at(-2));
      return slices.shift();
    },
  } as unknown as Statements & Writer;
  const keyLimits = new KeyLimits({ db, counters: new MemoryCounters(), banRules, onBan: () => {} });
  for (const isMore of [true, false, true]) assert.equal(await keyLimits.sweep(NOON), isMore);
  assert.deepEqual(checkedAfter, [0, 700, 0]);
});

const fail = () => Promise.reject(new DatabaseUnavailable(undefined));

describe('a flush of counts', () => {
  it('stores all keys, at most 200 in a transaction, and not those that change meanwhile again', async () => {
    const { keyLimits, written, transactions, useAll } = usedKeys();
    transactions.push(async () => useAll());
    await keyLimits.flush();
    assert.deepEqual(written, [200, 200, 200]);
    await keyLimits.flush();
    assert.deepEqual(written.slice(3), [50]);
    await keyLimits.flush();
    assert.equal(written.length, 4, 'nothing is left');
  });

  it('hides no count from the use of a key: those that it takes are read after it, and those of the next one before', async () => {
    const { db, keyLimits, written, transactions, counters } = usedKeys();
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    transactions.push(() => held);
    const flushing = keyLimits.flush();
    let writtenBefore = 0;
    const all = async () => {
      writtenBefore = written.length;
      // What the next flush takes while the store is read.
      void keyLimits.decide({ keyId: 1, terms: { ...terms, resets: 1 } }, NOON);
      counters.keys.takeChanges();
      return [];
    };
    const usage = keyLimits.usageOf({ keyId: 1, resets: 0 }, terms.limits, NOON);
    Object.assign(db, { all });
    void keyLimits.decide({ keyId: 1, terms }, NOON);
    release();
    await flushing;
    const { days } = await usage;
    assert.deepEqual([writtenBefore, days], [3, [{ date: '2026-11-21', admitted: 2, refused: 0 }]]);
  });

  it('that fails does not fail the use of a key, which includes its counts', async () => {
    const { db, keyLimits, transactions } = usedKeys();
    Object.assign(db, { all: async () => [] });
    const { promise: held, reject } = Promise.withResolvers<void>();
    transactions.push(() => held);
    const flushing = keyLimits.flush();
    const usage = keyLimits.usageOf({ keyId: 1, resets: 0 }, terms.limits, NOON);
    await nextTurn();
    reject(new DatabaseUnavailable(undefined));
    await assert.rejects(flushing, DatabaseUnavailable);
    assert.deepEqual((await usage).days, [{ date: '2026-11-21', admitted: 1, refused: 0 }]);
  });

  it('that fails leaves its keys to the next one', async () => {
    const { keyLimits, written, transactions, counters } = usedKeys();
    transactions.push(async () => {}, fail);
    await assert.rejects(keyLimits.flush(), DatabaseUnavailable);
    assert.deepEqual([written, counters.keys.changeCount()], [[200], 250]);
    await keyLimits.flush();
    assert.deepEqual([written, counters.keys.changeCount()], [[200, 200, 50], 0]);
  });

  it('runs regularly, one at a time, also after a failure, until the last one at the end', async t => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { db, keyLimits, written, transactions, useAll } = usedKeys();
    t.mock.method(keyLimits, 'load', async () => {});
    const { start, close, errors } = featureWith({ db, keyLimits });
    await start!();
    const { promise: hanging, resolve: end } = Promise.withResolvers<void>();
    transactions.push(fail, () => hanging);
    const flushes = t.mock.method(keyLimits, 'flush');
    const settled = async () => {
      for (const { result } of flushes.mock.calls) await result?.catch(() => {});
      await null;
    };
    t.mock.timers.tick(800);
    await settled();
    assert.deepEqual([errors.length, written], [1, []]);
    t.mock.timers.tick(800);
    t.mock.timers.tick(800);
    assert.equal(flushes.mock.callCount(), 2, 'the third flush does not wait for the second');
    end();
    await settled();
    assert.deepEqual(written, [200, 200, 50]);
    useAll();
    await close!();
    assert.deepEqual(written.slice(3), [200, 200, 50]);
    t.mock.timers.tick(8_000);
    assert.equal(flushes.mock.callCount(), 3);
  });

  it('that is the last and fails is an error of the shutdown, unless the store is read-only', async () => {
    const closeWith = (failure: DatabaseUnavailable) => {
      const { db, keyLimits, transactions } = usedKeys();
      transactions.push(() => Promise.reject(failure));
      const { close, errors } = featureWith({ db, keyLimits });
      return { closed: close!(), errors };
    };
    for (const what of ['unavailable', 'full', 'faulty', 'unconfirmed'] as const) {
      const failure = new DatabaseUnavailable(undefined, what);
      await assert.rejects(closeWith(failure).closed, { cause: failure }, what);
    }
    const failure = new DatabaseUnavailable(undefined, 'readOnly');
    const { closed, errors } = closeWith(failure);
    await closed;
    assert.deepEqual(errors, [failure]);
  });
});
