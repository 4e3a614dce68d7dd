import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreFigure } from './store-figure.ts';

describe('a figure of the store', () => {
  it('is read each time, and leaves no timer', async () => {
    const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length;
    const before = timers();
    let value = 0;
    const figure = new StoreFigure(async () => ++value);
    assert.deepEqual([await figure.current(), await figure.current()], [1, 2]);
    assert.ok(timers() <= before);
  });

  it('is missing when the store fails', async () => {
    const figure = new StoreFigure(async () => {
      throw new Error('The database is unavailable');
    });
    assert.equal(await figure.current(), undefined);
  });

  it('is missing while the store hangs, and is read only once in that time', async t => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const store = Promise.withResolvers<number>();
    let reads = 0;
    const figure = new StoreFigure(() => {
      reads++;
      return store.promise;
    });
    for (let i = 0; i < 3; i++) {
      const current = figure.current();
      t.mock.timers.tick(1_000);
      assert.equal(await current, undefined);
    }
    assert.equal(reads, 1);
    store.resolve(7);
    assert.equal(await figure.current(), 7);
  });
});
