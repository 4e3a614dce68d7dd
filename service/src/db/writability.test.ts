import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SECOND } from '../kit/clock.ts';
import { DatabaseUnavailable } from './database.ts';
import { Writability } from './writability.ts';

const full = new DatabaseUnavailable(undefined, 'full');
const busy = new DatabaseUnavailable(undefined, 'busy');

function aStore() {
  const store = { now: 0, probes: 0, probe: async () => {} };
  const tryWrite = () => {
    store.probes++;
    return store.probe();
  };
  return { store, writability: new Writability({ tryWrite }, { now: () => store.now }) };
}

describe('whether the store accepts writes', () => {
  it('is probed at most once a second, also after a probe has failed in any way', async () => {
    const { store, writability } = aStore();
    const bug = new TypeError('a bug');
    for (const error of [undefined, full, busy, bug]) {
      store.probe = () => (error ? Promise.reject(error) : Promise.resolve());
      const before = store.probes;
      const problem = writability.problem();
      await (error === bug ? assert.rejects(problem, bug) : problem);
      store.now += SECOND - 1;
      await writability.problem();
      assert.equal(store.probes, before + 1);
      store.now += 1;
    }
    store.probe = async () => {};
    store.now += 5 * SECOND;
    assert.equal(await writability.problem(), undefined);
  });

  it('is probed again at once when the clock was set back, and an earlier failure does not count any more', async () => {
    const { store, writability } = aStore();
    writability.note(full);
    assert.equal(await writability.problem(), 'full');
    store.now -= 3_600 * SECOND;
    assert.deepEqual([await writability.problem(), store.probes], [undefined, 2]);
  });

  it('is not known from a successful probe for five seconds after a write has failed', async () => {
    const { store, writability } = aStore();
    writability.note(busy);
    assert.equal(await writability.problem(), undefined);
    writability.note(full);
    // A failure of a read, or a full queue, does not show that writes succeed.
    writability.note(busy);
    for (store.now = SECOND; store.now < 5 * SECOND; store.now += SECOND)
      assert.equal(await writability.problem(), 'full');
    assert.equal(await writability.problem(), undefined);
  });

  it('does not wait for a probe for longer than half a second; a later call has its outcome', async t => {
    // As the sockets of a service do: the wait itself keeps no process alive.
    const alive = setInterval(() => {}, SECOND);
    t.after(() => clearInterval(alive));
    const { store, writability } = aStore();
    const { promise, reject } = Promise.withResolvers<void>();
    store.probe = () => promise;
    assert.equal(await writability.problem(), undefined);
    store.now += 2 * SECOND;
    const later = writability.problem();
    reject(full);
    assert.deepEqual([await later, store.probes], ['full', 1]);
  });
});
