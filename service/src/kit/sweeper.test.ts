import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Sweep, Sweeper } from './sweeper.ts';

const clock = { now: () => 1_000 };

function sweeperOf(sweeps: Record<string, Sweep>) {
  const failures: [name: string, error: unknown][] = [];
  const sweeper = new Sweeper({ sweeps, clock, onError: (...failure) => void failures.push(failure) });
  return { sweeper, failures };
}

/** A sweep with a number of slices, and the number of slices that have run. */
function slices(count: number) {
  const sweep = {
    done: 0,
    run: async () => ++sweep.done < count,
  };
  return sweep;
}

describe('a sweeper', () => {
  it('runs each sweep slice by slice until nothing is left, with the time of the round', async () => {
    const [three, one] = [slices(3), slices(1)];
    const instants: number[] = [];
    const { sweeper } = sweeperOf({
      three: now => {
        instants.push(now);
        return three.run();
      },
      one: one.run,
    });
    await sweeper.run();
    assert.deepEqual([three.done, one.done, instants], [3, 1, [1_000, 1_000, 1_000]]);
  });

  it('yields to the event loop between two slices', async () => {
    const sweep = slices(10);
    const seen: number[] = [];
    const { sweeper } = sweeperOf({ sweep: sweep.run });
    const running = sweeper.run();
    while (sweep.done < 10) {
      seen.push(sweep.done);
      await nextTurn();
    }
    await running;
    assert.ok(seen.length >= 9, `${seen}`);
  });

  it('starts with a round, and then starts none while one runs', async t => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    let [rounds, slice] = [0, Promise.withResolvers<boolean>()];
    const { sweeper } = sweeperOf({
      slow: () => {
        rounds++;
        return slice.promise;
      },
    });
    sweeper.start(1_000);
    assert.equal(rounds, 1);
    t.mock.timers.tick(3_000);
    slice.resolve(false);
    for (let i = 0; i < 5; i++) await nextTurn();
    assert.equal(rounds, 1, 'the rounds of the time before are not made up for');
    slice = Promise.withResolvers();
    slice.resolve(false);
    t.mock.timers.tick(1_000);
    await sweeper.close();
    assert.equal(rounds, 2);
  });

  it('reports a failed sweep, continues with the others, and retries it in the next round; each has the time of its success', async () => {
    const failure = new Error('locked');
    let fails = true;
    const after = slices(2);
    const { sweeper, failures } = sweeperOf({
      failing: async () => {
        if (fails) throw failure;
        return false;
      },
      after: after.run,
    });
    const successes = () => Object.fromEntries(sweeper.lastSuccess);
    assert.deepEqual(successes(), { failing: undefined, after: undefined });
    await sweeper.run();
    assert.deepEqual([failures, after.done], [[['failing', failure]], 2]);
    assert.deepEqual(successes(), { failing: undefined, after: 1_000 });
    fails = false;
    await sweeper.run();
    assert.deepEqual(successes(), { failing: 1_000, after: 1_000 });
  });

  it('runs one round at a time, and a full round for each caller', async () => {
    let running = 0;
    const rounds: string[] = [];
    const sweepOf = (name: string) => async () => {
      assert.equal(running++, 0);
      await nextTurn();
      running--;
      rounds.push(name);
      return false;
    };
    const { sweeper } = sweeperOf({ first: sweepOf('first'), second: sweepOf('second') });
    await Promise.all([sweeper.run(), sweeper.run()]);
    assert.deepEqual(rounds, ['first', 'second', 'first', 'second']);
  });

  it('ends after the current slice when it is closed, and records no success of the sweep that it cuts short', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let done = 0;
    const { sweeper } = sweeperOf({
      long: async () => {
        await released;
        return ++done < 3;
      },
    });
    sweeper.start(60_000);
    let isClosed = false;
    const closed = sweeper.close().then(() => {
      isClosed = true;
    });
    await nextTurn();
    assert.equal(isClosed, false);
    release();
    await closed;
    assert.deepEqual([done, sweeper.lastSuccess.get('long')], [1, undefined]);
  });
});
