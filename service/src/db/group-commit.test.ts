import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { TurnCounter } from '../../test/support/turn-counter.ts';
import { DatabaseUnavailable, type Transaction } from './database.ts';
import { type CommitLog, GroupCommit } from './group-commit.ts';

const noQueries = {} as Transaction;

/** Records its statements. Each entry of `failing` makes the statement of this name fail once. */
class Recorder implements CommitLog {
  readonly statements: string[] = [];
  failing: string[] = [];
  /** The number of parts in which changes are written ahead. */
  parts = 1;
  #open = false;
  #changes = 0;

  begin = (isLong = false) => {
    this.#record(isLong ? 'begin long' : 'begin');
    if (this.#open) throw new Error('A transaction is already open');
    this.#open = true;
  };
  commit = (keepsLog = false) => {
    this.#record(keepsLog ? 'commit and keep log' : 'commit');
    this.#open = false;
  };
  writeAhead = () => {
    this.#record('write ahead');
    return --this.parts > 0;
  };
  moveLog = async () => this.#record('move log');
  rollback = () => {
    this.#record('rollback');
    this.#open = false;
  };
  savepoint = () => this.#record('savepoint');
  release = () => this.#record('release');
  rollbackToSavepoint = () => this.#record('undo');
  inTransaction = () => this.#open;
  changes = () => this.#changes;

  note(entry: string): void {
    this.statements.push(entry);
  }

  /** Acts like a statement that changes something. */
  change(): void {
    this.#changes++;
  }

  /** Acts like an engine whose disk is full, which rolls back the whole transaction. */
  loseTransaction(): void {
    this.#open = false;
  }

  #record(statement: string): void {
    this.statements.push(statement);
    const failure = this.failing.indexOf(statement);
    if (failure < 0) return;
    this.failing.splice(failure, 1);
    throw new Error(`${statement} failed`);
  }
}

/** The statements and turns of the event loop, without repetitions. */
function stepsOf({ statements }: Recorder): string[] {
  return statements.filter((statement, i) => statement !== statements[i - 1]);
}

function start(
  maxBatch = 100,
  maxDuration = Number.POSITIVE_INFINITY,
): { log: Recorder; group: GroupCommit; committed: number[] } {
  const log = new Recorder();
  const committed: number[] = [];
  const limits = { maxBatch, maxDuration, maxQueue: 1_000 };
  return { log, group: new GroupCommit(log, noQueries, limits, size => committed.push(size)), committed };
}

const rejected = new Error('rejected');

async function reject(): Promise<never> {
  throw rejected;
}

function valueOrReason(outcome: PromiseSettledResult<unknown>): unknown {
  return outcome.status === 'fulfilled' ? outcome.value : outcome.reason;
}

describe('group commit', () => {
  it('reports how many writes shared each commit, and reports no failed commit', async () => {
    const { log, group, committed } = start(2);
    await Promise.allSettled([group.write(async () => 1), group.write(reject), group.write(async () => 3)]);
    assert.deepEqual(committed, [2, 1]);
    log.failing = ['commit'];
    await assert.rejects(group.write(async () => 4));
    assert.deepEqual(committed, [2, 1]);
  });

  it('commits the writes of one turn together, in the order of their arrival', async () => {
    const { log, group } = start();
    const order: number[] = [];
    const writes = [1, 2, 3].map(n => group.write(async () => order.push(n) && n));

    assert.deepEqual(await Promise.all(writes), [1, 2, 3]);
    assert.deepEqual(order, [1, 2, 3]);
    assert.deepEqual(log.statements, ['begin', 'commit']);
  });

  /** Writes once now and once in each of the next turns. Returns the order of arrivals and commits. */
  async function writeInTurns({ log, group }: ReturnType<typeof start>, turns: number): Promise<string[]> {
    const writes: Promise<unknown>[] = [];
    const arrive = () => {
      if (writes.length === turns) return;
      setImmediate(arrive);
      log.statements.push('arrival');
      writes.push(group.write(async () => {}));
    };
    arrive();
    await turn();
    while (writes.length < turns) await turn();
    await Promise.all(writes);
    return log.statements.filter(entry => entry === 'arrival' || entry === 'commit');
  }

  it('waits for more writes as long as some arrive in each turn', async () => {
    assert.deepEqual(await writeInTurns(start(), 4), [...Array(4).fill('arrival'), 'commit']);
  });

  it('waits no longer than a group may run, and for no more writes than fit into it', async () => {
    for (const limited of [start(100, 0), start(2)]) {
      const entries = await writeInTurns(limited, 10);
      assert.ok(entries.indexOf('commit') <= 3, String(entries));
    }
  });

  it('runs no write more than twice, however many writes of a batch fail after a change', async () => {
    const { log, group, committed } = start(4);
    const runs = Array(9).fill(0);
    const spoil = (n: number) => async () => {
      runs[n]++;
      log.change();
      throw rejected;
    };
    await Promise.allSettled(runs.map((_, n) => group.write(spoil(n))));
    assert.ok(Math.max(...runs) <= 2, String(runs));
    assert.equal(
      committed.reduce((sum, size) => sum + size),
      9,
    );
  });

  it('runs a batch again with a savepoint for each write, and releases it, if one fails after a change', async () => {
    const { log, group } = start();
    const spoil = async () => {
      log.change();
      throw rejected;
    };
    await Promise.allSettled([group.write(async () => 1), group.write(spoil)]);
    const again = ['begin', 'savepoint', 'release', 'savepoint', 'undo', 'release', 'commit'];
    assert.deepEqual(log.statements, ['begin', 'rollback', ...again]);
  });

  it('settles no write before the commit, rejected ones included', async () => {
    const { log, group } = start();
    const latest: string[] = [];
    const note = () => void latest.push(log.statements.at(-1)!);
    await Promise.all([group.write(async () => 1).then(note), group.write(reject).catch(note)]);
    assert.deepEqual(latest, ['commit', 'commit']);
  });

  it('runs one write at a time, even when its work waits', async () => {
    const { group } = start();
    let running = 0;
    const work = async () => {
      assert.equal(++running, 1);
      await Promise.resolve();
      running--;
    };
    await Promise.all([group.write(work), group.write(work), group.write(work)]);
  });

  for (const statement of ['begin', 'savepoint', 'commit']) {
    it(`rejects the whole batch when ${statement} fails, and the next batch works`, async () => {
      const { log, group } = start();
      log.failing = [statement];
      const spoil = async () => {
        log.change();
        throw rejected;
      };
      const outcomes = await Promise.allSettled([group.write(async () => 1), group.write(spoil)]);

      for (const outcome of outcomes) {
        assert.equal(outcome.status, 'rejected');
        assert.ok(outcome.reason instanceof DatabaseUnavailable);
        assert.match(String(outcome.reason.cause), new RegExp(`${statement} failed`));
      }
      assert.equal(log.statements.at(-1), 'rollback');
      assert.equal(await group.write(async () => 'kept'), 'kept');
      assert.equal(log.statements.at(-1), 'commit');
    });
  }

  it('rejects the whole batch when the engine has rolled it back by itself', async () => {
    const { log, group } = start();
    const ran: string[] = [];
    const outcomes = await Promise.allSettled([
      group.write(async () => ran.push('first')),
      group.write(async () => {
        log.loseTransaction();
        throw new Error('disk full');
      }),
      group.write(async () => ran.push('third')),
    ]);

    assert.deepEqual(
      outcomes.map(outcome => outcome.status === 'rejected' && outcome.reason instanceof DatabaseUnavailable),
      [true, true, true],
    );
    assert.deepEqual(ran, ['first']);
    assert.ok(!log.statements.includes('commit'));
  });

  it('runs a write that reads a damaged page again in a commit of its own, and the others in the next batch', async () => {
    const { log, group, committed } = start();
    const damage = new DatabaseUnavailable(undefined, 'damaged');
    const reads = async () => {
      log.note('damage');
      throw damage;
    };
    const spoil = async () => {
      log.change();
      throw rejected;
    };
    const fails = ['begin long', 'damage', 'rollback', 'move log'];
    const earlier = async () => log.note('earlier');
    const plain = await Promise.allSettled([
      group.write(async () => 1),
      group.write(reads),
      group.write(earlier, { alone: true }),
    ]);
    await group.drain();
    assert.deepEqual(plain.map(valueOrReason), [1, damage, undefined]);
    assert.deepEqual(log.statements.splice(0), [
      ...['begin', 'damage', 'rollback'],
      ...['begin long', 'earlier', 'commit and keep log', 'move log'],
      ...['begin', 'commit'],
      ...fails,
    ]);

    const writes = [group.write(async () => 1), group.write(spoil), group.write(reads)];
    const withSavepoints = await Promise.allSettled(writes);
    await group.drain();
    assert.deepEqual(withSavepoints.map(valueOrReason), [1, rejected, damage]);
    assert.deepEqual(log.statements, [
      ...['begin', 'rollback'],
      ...['begin', 'savepoint', 'release', 'savepoint', 'undo', 'release', 'savepoint', 'damage', 'rollback'],
      ...fails,
      ...['begin', 'savepoint', 'release', 'savepoint', 'undo', 'release', 'commit'],
    ]);
    assert.deepEqual(committed, [1, 1, 2]);
  });

  it('rejects a write that reads a damaged page after a change, also if no other write is in its batch', async () => {
    const damage = new DatabaseUnavailable(undefined, 'damaged');
    for (const maxBatch of [1, 100]) {
      const { log, group } = start(maxBatch);
      const spoils = async () => {
        log.note('damage');
        log.change();
        // Otherwise a write that runs again without end would block the process.
        throw log.statements.length < 20 ? damage : rejected;
      };
      await assert.rejects(group.write(spoils), damage);
      await group.drain();
      assert.deepEqual(log.statements, [
        ...['begin', 'damage', 'rollback'],
        ...['begin long', 'damage', 'rollback', 'move log'],
      ]);
    }
  });

  it('continues after a commit and its rollback have failed', async () => {
    const { log, group } = start();
    log.failing = ['commit', 'rollback'];
    await assert.rejects(
      group.write(async () => 1),
      DatabaseUnavailable,
    );
    await assert.rejects(
      group.write(async () => 2),
      DatabaseUnavailable,
    );
    assert.equal(await group.write(async () => 3), 3);
  });
});

describe('a write that takes long', () => {
  it('commits and moves the log in two turns, between which others run', async () => {
    const { log, group } = start();
    const long = group.write(async () => {}, { alone: true });
    void long.then(() => log.note('response'));
    await group.drain();
    assert.deepEqual(log.statements, ['begin long', 'commit and keep log', 'response', 'move log']);
  });

  it('writes many changes ahead in parts, each in a turn of its own', async () => {
    const { log, group } = start();
    log.parts = 3;
    using _turns = new TurnCounter(() => log.note('turn'));
    await group.write(async () => Array.from({ length: 300 }, () => log.change()), { alone: true });
    await group.drain();
    const parts = Array(3)
      .fill('write ahead')
      .flatMap(part => ['turn', part]);
    assert.deepEqual(stepsOf(log), ['begin long', ...parts, 'commit and keep log', 'turn', 'move log']);
  });

  it('is drained when its log has been moved', async () => {
    const { log, group } = start();
    const moved = Promise.withResolvers<void>();
    log.moveLog = () => moved.promise;
    await group.write(async () => {}, { alone: true });
    const drained = group.drain().then(() => log.note('drained'));
    for (let turns = 0; turns < 5; turns++) await turn();
    log.note('moved');
    moved.resolve();
    await drained;
    assert.deepEqual(log.statements.slice(-2), ['moved', 'drained']);
  });

  it('begins when the log of an earlier one is moved, after other writes', async () => {
    const { log, group } = start();
    const moved = Promise.withResolvers<void>();
    log.moveLog = () => moved.promise;
    await group.write(async () => log.note('long 1'), { alone: true });
    const next = group.write(async () => log.note('long 2'), { alone: true });
    await turn();
    const short = group.write(async () => log.note('short'));
    log.note('moved');
    moved.resolve();
    await Promise.all([next, short]);
    const order = log.statements.filter(statement => /long [12]|short|moved/.test(statement));
    assert.deepEqual(order, ['long 1', 'moved', 'short', 'long 2']);
  });
});

it('a group that took as long as it may commits and moves the log in turns of their own', async () => {
  const { log, group } = start(100, 0);
  using _turns = new TurnCounter(() => log.note('turn'));
  await Promise.all([
    group.write(async () => log.note('first')),
    group.write(async () => log.note('second')),
  ]);
  await group.drain();
  const steps = (name: string) => ['begin', name, 'turn', 'commit and keep log', 'turn', 'move log'];
  assert.deepEqual(stepsOf(log), ['turn', ...steps('first'), 'turn', ...steps('second')]);
});
