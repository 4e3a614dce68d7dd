import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import { SECOND } from '../kit/clock.ts';
import { DatabaseUnavailable, type NewEvent, type Transaction } from './database.ts';
import { GroupMember, NeedsOwnTransaction } from './group-member.ts';
import { type GroupTransaction, PostgresGroups } from './postgres-groups.ts';

/** A transaction in which every statement succeeds at once. It records the locks that a group takes early. */
class NoStatements {
  readonly early: string[][] = [];

  async get(): Promise<undefined> {}

  async lock(): Promise<void> {}

  append(): void {}

  savepoint<T>(part: () => Promise<T>): Promise<T> {
    return part();
  }

  async tryLocks(names: readonly string[]): Promise<void> {
    this.early.push([...names]);
  }
}

function aFake(t: TestContext, { maxSize = 100, maxTransactions = 2 } = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  let held: Promise<void> | undefined;
  const tx = new NoStatements();
  const [ran, commits]: [string[], number[]] = [[], []];
  const transaction = tx as unknown as GroupTransaction;
  const fake = {
    tx,
    /** What ran, in order: `group` for a shared transaction. */
    ran,
    commits,
    /** The error of the next commits of groups. */
    failure: undefined as unknown,
    /** Makes transactions wait until the returned function is called. */
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return () => {
        held = undefined;
        resolve();
      };
    },
    /** Lets time pass. */
    pass: (milliseconds: number) => {
      now += milliseconds;
      t.mock.timers.tick(milliseconds);
    },
    groups: new PostgresGroups({
      together: async work => {
        ran.push('group');
        if (fake.failure === 'no connection') throw new DatabaseUnavailable(undefined, 'busy');
        const value = await work(transaction);
        await held;
        if (fake.failure) throw fake.failure;
        return value;
      },
      byItself: async work => {
        const value = await work(transaction);
        await held;
        return value;
      },
      maxSize,
      maxTransactions,
      lockTimeout: 5 * SECOND,
      onCommit: size => commits.push(size),
    }),
  };
  return fake;
}

/** Lets everything run that waits for no timer. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn();
}

/** An operation that records its name when it runs, after its first statement. */
function operation({ ran }: ReturnType<typeof aFake>, name: string, effect = () => {}) {
  return async (tx: Transaction) => {
    await tx.get('SELECT 1');
    ran.push(name);
    effect();
    return name;
  };
}

const statusesOf = async (writes: Promise<unknown>[]) =>
  (await Promise.allSettled(writes)).map(result =>
    result.status === 'fulfilled' ? result.value : String(result.reason.what ?? result.reason.message),
  );

describe('groups of writes', () => {
  it('run in as many transactions at once as they may, also after earlier ones have ended', async t => {
    const fake = aFake(t);
    for (let round = 0; round < 3; round++) {
      fake.ran.length = 0;
      const release = fake.hold();
      const writes: Promise<unknown>[] = [];
      for (const name of ['a', 'b', 'c', 'd']) {
        writes.push(fake.groups.write(operation(fake, name)));
        await settle();
        fake.pass(24);
        await settle();
        assert.deepEqual(
          fake.ran,
          name === 'a' ? ['a'] : ['a', 'group', 'b'],
          'the next one waits for 25 ms',
        );
        fake.pass(1);
        await settle();
      }
      release();
      await Promise.all(writes);
      assert.deepEqual(fake.ran, ['a', 'group', 'b', 'group', 'c', 'd']);
    }
    assert.deepEqual(fake.commits, [1, 1, 2, 1, 1, 2, 1, 1, 2]);
  });

  it('start when any transaction ends, while the one that started last waits for a lock', async t => {
    const fake = aFake(t);
    const releases: (() => void)[] = [];
    const writes: Promise<unknown>[] = [];
    for (const name of ['first', 'last', 'next']) {
      releases.push(fake.hold());
      writes.push(fake.groups.write(operation(fake, name)));
      await settle();
      fake.pass(25);
      await settle();
    }
    assert.deepEqual(fake.ran, ['first', 'group', 'last']);
    releases[0]!();
    await settle();
    assert.deepEqual(fake.ran, ['first', 'group', 'last', 'next']);
    releases[1]!();
    await Promise.all(writes);
  });

  /** Starts four writes, one after another, that wait for a lock until `release` is called. */
  async function waitForLock({ groups, pass }: ReturnType<typeof aFake>) {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const waiting: Promise<unknown>[] = [];
    for (const name of ['a', 'b', 'c', 'd']) {
      const write = groups.write(async tx => {
        await tx.get('SELECT 1');
        if (tx instanceof GroupMember) throw new NeedsOwnTransaction('Another transaction holds the lock');
        await released;
        return name;
      });
      waiting.push(write);
      await settle();
      pass(25);
      await settle();
    }
    return { waiting, release };
  }

  for (const maxTransactions of [1, 2, 3])
    it(`run while others wait for locks, however many, in ${maxTransactions} transactions at once`, async t => {
      const fake = aFake(t, { maxTransactions });
      const { waiting, release } = await waitForLock(fake);
      void fake.groups.write(operation(fake, 'free'));
      await settle();
      assert.deepEqual(fake.commits, [1]);
      release();
      assert.deepEqual(await statusesOf(waiting), ['a', 'b', 'c', 'd']);
    });

  it('reject operations that wait for a place among those as long as for a lock', async t => {
    const fake = aFake(t, { maxTransactions: 3 });
    const { waiting, release } = await waitForLock(fake);
    fake.pass(5 * SECOND);
    release();
    assert.deepEqual(await statusesOf(waiting), ['a', 'b', 'busy', 'busy']);
  });

  for (const [maxSize, commits] of [
    [50, [50, 50, 30]],
    [1_024, [64, 64, 2]],
  ] as const) {
    it(`have at most as many operations as the setting allows, and at most 64: ${maxSize}`, async t => {
      const fake = aFake(t, { maxSize });
      await Promise.all(Array.from({ length: 130 }, (_, i) => fake.groups.write(operation(fake, `${i}`))));
      assert.deepEqual(fake.commits, commits);
    });
  }

  it('do not exist when the setting is 1: each operation has a transaction at once', async t => {
    const fake = aFake(t, { maxSize: 1, maxTransactions: 1 });
    const release = fake.hold();
    const writes = [1, 2].map(i => fake.groups.write(operation(fake, `${i}`)));
    await settle();
    assert.deepEqual(fake.ran, ['1', '2']);
    release();
    await Promise.all(writes);
    assert.deepEqual(fake.commits, [1, 1]);
  });

  it('start no operation after 25 ms, and leave the rest to the next group', async t => {
    const fake = aFake(t);
    const writes = ['a', 'b', 'c'].map((name, i) =>
      fake.groups.write(operation(fake, name, () => fake.pass(i === 0 ? 24 : 1))),
    );
    assert.deepEqual(await Promise.all(writes), ['a', 'b', 'c']);
    assert.deepEqual(
      [fake.ran, fake.commits],
      [
        ['group', 'a', 'b', 'c'],
        [2, 1],
      ],
    );
  });

  it('start at least one operation, however long the early locks took', async t => {
    const fake = aFake(t);
    const slow = fake.tx.tryLocks.bind(fake.tx);
    fake.tx.tryLocks = async names => {
      fake.pass(30);
      await slow(names);
    };
    const writes = ['b', 'a'].map(name =>
      fake.groups.write(async tx => {
        await tx.lock(`pet ${name}`);
        fake.ran.push(name);
      }),
    );
    await Promise.all(writes);
    assert.deepEqual(
      [fake.ran, fake.commits],
      [
        ['group', 'b', 'a'],
        [1, 1],
      ],
    );
    assert.deepEqual(fake.tx.early, [['pet a', 'pet b']], 'in the order of their names');
  });

  for (const [after, kept] of [
    [SECOND, []],
    [SECOND - 1, ['late 0', 'late 1']],
  ] as const) {
    it(`that fail after ${after} ms reject ${kept.length === 0 ? 'all' : 'none'} of those that wait for them`, async t => {
      const fake = aFake(t, { maxTransactions: 1 });
      const release = fake.hold();
      const group = ['a', 'b'].map(name => fake.groups.write(operation(fake, name)));
      await settle();
      const waiting = [0, 1].map(i => fake.groups.write(operation(fake, `late ${i}`)));
      fake.pass(after);
      fake.failure = new DatabaseUnavailable(undefined, 'unknown');
      release();
      assert.deepEqual(await statusesOf(group), ['unknown', 'unknown']);
      fake.failure = undefined;
      const rejected = ['unavailable', 'unavailable'];
      assert.deepEqual(await statusesOf(waiting), kept.length > 0 ? kept : rejected);
    });
  }

  it('without a connection reject all of their operations', async t => {
    const fake = aFake(t);
    fake.failure = 'no connection';
    const writes = ['a', 'b', 'c'].map(name => fake.groups.write(operation(fake, name)));
    assert.deepEqual(await statusesOf(writes), ['busy', 'busy', 'busy']);
    assert.deepEqual([fake.ran, fake.commits], [['group'], []]);
  });

  it('whose commit fails run each operation again in a group of its own, and the rest in the next one', async t => {
    const fake = aFake(t);
    const writes = ['a', 'b', 'c', 'd'].map((name, i) =>
      fake.groups.write(
        operation(fake, name, () => {
          if (i === 1) fake.pass(25);
          fake.failure = fake.ran.length <= 3 ? new pg.DatabaseError('deferred', 1, 'error') : undefined;
        }),
      ),
    );
    await Promise.all(writes);
    assert.deepEqual(fake.ran.slice(0, 3), ['group', 'a', 'b']);
    assert.deepEqual(fake.ran.slice(3).toSorted(), ['a', 'b', 'c', 'd', 'group', 'group', 'group']);
    assert.deepEqual(fake.commits.toSorted(), [1, 1, 2]);
  });

  it('whose commit fails run no operation again after one for which the database was unavailable', async t => {
    const fake = aFake(t);
    const failed = new pg.DatabaseError('deferred', 1, 'error');
    const unknown = new DatabaseUnavailable(undefined, 'unknown');
    const groups = () => fake.ran.filter(name => name === 'group').length;
    Object.defineProperty(fake, 'failure', { get: () => (groups() === 1 ? failed : unknown) });
    const writes = ['a', 'b', 'c'].map(name => fake.groups.write(operation(fake, name)));
    assert.deepEqual(await statusesOf(writes), ['unknown', 'busy', 'busy'], 'the others were not stored');
    assert.deepEqual(fake.ran, ['group', 'a', 'b', 'c', 'group', 'a']);
  });

  it('whose commit fails run their operations again as long as these may wait for a lock', async t => {
    const fake = aFake(t);
    const failed = new pg.DatabaseError('deferred', 1, 'error');
    const failLate = () => {
      // A transaction reads it three times.
      fake.pass(SECOND / 2);
      return failed;
    };
    Object.defineProperty(fake, 'failure', { get: failLate });
    const writes = ['a', 'b', 'c', 'd', 'e'].map(name => fake.groups.write(operation(fake, name)));
    assert.deepEqual(await statusesOf(writes), ['a', 'b', 'c', 'd', 'busy']);
  });

  it('of one operation whose commit fails run it again alone', async t => {
    const fake = aFake(t);
    fake.failure = new pg.DatabaseError('deferred', 1, 'error');
    await Promise.all(['a', 'b'].map(name => fake.groups.write(operation(fake, name))));
    assert.deepEqual(fake.ran, ['group', 'a', 'b', 'group', 'a', 'group', 'a', 'b', 'b']);
    assert.deepEqual(fake.commits, [1, 1]);
  });

  it('leave nothing behind that waits', async t => {
    const fake = aFake(t);
    const started = t.mock.method(globalThis, 'setTimeout');
    const ended = t.mock.method(globalThis, 'clearTimeout');
    await Promise.all([1, 2, 3].map(i => fake.groups.write(operation(fake, `${i}`))));
    await settle();
    assert.equal(started.mock.callCount(), 1);
    assert.deepEqual(ended.mock.calls[0]?.arguments, [started.mock.calls[0]?.result]);
  });
});

const event: NewEvent = { type: 'x', subject: 'c/1', data: '{}', actor: 'system' };

/** The statements for which an operation does not wait. */
const unawaited: Record<string, (tx: Transaction) => void> = {
  send: tx => tx.send('SELECT 1', []),
  update: tx => tx.update({} as never, 1, []),
  insertLater: tx => tx.insertLater('categories (name)', [['x']]),
  append: tx => tx.append(event),
};

/** The statements for which it waits. */
const awaited: Record<string, (tx: Transaction) => Promise<unknown>> = {
  get: tx => tx.get('SELECT 1'),
  all: tx => tx.all('SELECT 1'),
  run: tx => tx.run('SELECT 1'),
  insert: tx => tx.insert({} as never, []),
  lockedRow: tx => tx.lockedRow({ lock: 'pet' } as never, 1, async () => []),
  lock: tx => tx.lock('a'),
  tryLock: tx => tx.tryLock('a'),
  atEnd: tx => tx.atEnd(async () => {}, []),
  savepoint: tx => tx.savepoint(async () => {}),
  appendNumbered: tx => tx.appendNumbered(event),
};

/** A transaction that records the names of its calls. */
function recorder() {
  const calls: string[] = [];
  const inner = new Proxy({} as Transaction, {
    get: (_, name: string) => async () => void calls.push(name),
  });
  return { calls, inner };
}

describe('an operation of a group', () => {
  it('has a case here for each statement that a transaction has', () => {
    const withoutStatement = [
      'constructor',
      'heldRow',
      'hasRoomFor',
      'afterCommit',
      'write',
      'notify',
      'awaited',
      'sent',
    ];
    const { prototype } = GroupMember;
    const methods = [
      prototype,
      Object.getPrototypeOf(prototype),
      Object.getPrototypeOf(Object.getPrototypeOf(prototype)),
    ]
      .flatMap(object => Object.getOwnPropertyNames(object))
      .filter(name => !['engine', 'continue', ...withoutStatement].includes(name));
    assert.deepEqual([...new Set(methods)].toSorted(), Object.keys({ ...unawaited, ...awaited }).toSorted());
  });

  for (const [name, begin] of Object.entries(awaited)) {
    it(`that begins with ${name} stops there until its turn`, async () => {
      const { calls, inner } = recorder();
      const member = new GroupMember(inner, begin);
      await settle();
      assert.deepEqual(calls, []);
      await member.continue();
      assert.deepEqual(calls, [name]);
    });
  }

  for (const [name, begin] of Object.entries(unawaited)) {
    it(`that begins with ${name}, for which it does not wait, runs again alone, and the others commit`, async t => {
      const fake = aFake(t);
      Object.assign(fake.tx, { [name]: () => void fake.ran.push(name) });
      const writes = [
        fake.groups.write(operation(fake, 'a')),
        fake.groups.write(async tx => begin(tx)),
        fake.groups.write(operation(fake, 'b')),
      ];
      await Promise.all(writes);
      assert.deepEqual(fake.ran, ['group', 'a', 'b', name]);
      assert.deepEqual(fake.commits, [2, 1]);
    });
  }

  it('that fails before its turn rejects in its turn', async t => {
    const fake = aFake(t);
    const writes = [
      fake.groups.write(operation(fake, 'a')),
      fake.groups.write(async () => {
        throw new Error('invalid');
      }),
    ];
    assert.deepEqual(await statusesOf(writes), ['a', 'invalid']);
    assert.deepEqual(fake.commits, [2]);
  });
});
