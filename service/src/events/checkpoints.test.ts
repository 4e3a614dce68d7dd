import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as settled } from 'node:timers/promises';
import { HOUR } from '../kit/clock.ts';
import { Checkpoints } from './checkpoints.ts';

it('checkpoints are reported every hour and at the end, with the events that were appended until then', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let [last, fails] = [0, false];
  const numbered: number[] = [];
  const db = {
    numberEvents: async () => {
      numbered.push(++last);
    },
    get: async () => {
      if (fails) throw new Error('no database');
      return { last_id: last, seal: `seal ${last}` } as never;
    },
  };
  const reported: unknown[] = [];
  const checkpoints = new Checkpoints(db, {
    onCheckpoint: ({ id, seal }) => reported.push(`${id} ${seal}`),
    onError: error => reported.push(String(error)),
  });
  checkpoints.start();
  t.mock.timers.tick(HOUR - 1);
  await settled();
  assert.deepEqual(reported, []);
  t.mock.timers.tick(1);
  await settled();
  fails = true;
  t.mock.timers.tick(HOUR);
  await settled();
  fails = false;
  await checkpoints.close();
  t.mock.timers.tick(HOUR);
  await settled();
  assert.deepEqual(reported, ['1 seal 1', 'Error: no database', '3 seal 3']);
});
