import assert from 'node:assert/strict';
import { once } from 'node:events';
import { it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { sized } from '../support/long.ts';
import { onPostgres } from '../support/test-store.ts';
import { rejectionStatus } from './shop-shapes.ts';
import type { Walk, Walked } from './shop-walk.ts';

/**
 * Number of sequences: `MODEL_RUNS=100000 node --test …` searches longer. A database server takes about ten round trips per
 * step, so fewer run there: errors that depend on the rules alone are found on the embedded store.
 */
const RUNS = Number(process.env.MODEL_RUNS ?? (onPostgres ? sized(20, 200) : sized(250, 2_000)));

/** So many sequences reject for every reason, and change each status in every way, the rarest one about 15 times. */
const MANY_RUNS = 250;

/** Printed by a failure, to repeat it: `MODEL_SEED=… MODEL_PATH=…`. */
const { MODEL_SEED, MODEL_PATH } = process.env;

/** One worker for each of two processors. */
const WORKERS = MODEL_PATH === undefined ? 2 : 1;

/** How a pet's status changes: never from sold to pending, and from sold to available only with its stock. */
const TRANSITIONS = [
  ...['available → pending', 'available → sold', 'pending → available', 'pending → sold'].flatMap(change =>
    ['inventory', 'orders', 'pets'].map(resource => `${change} by ${resource}`),
  ),
  'sold → available by inventory',
];

/** Runs in a separate thread. A failure there is thrown here. */
async function walk(workerData: Walk): Promise<Walked> {
  const worker = new Worker(new URL('shop-walk.ts', import.meta.url), { workerData });
  const [[result]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
  return result;
}

it('the shop behaves like a simple model of its rules, in every sequence of operations', async t => {
  const seed = MODEL_SEED === undefined ? Date.now() | 0 : Number(MODEL_SEED);
  const runs = Math.ceil(RUNS / WORKERS);
  const walks = await Promise.all(
    Array.from({ length: WORKERS }, (_, i) => walk({ seed: (seed + i) | 0, runs, path: MODEL_PATH })),
  );
  // A sequence that never breaks a rule does not test it.
  if (MODEL_PATH === undefined && RUNS >= MANY_RUNS) {
    const rejections = new Set(walks.flatMap(({ rejections }) => rejections));
    assert.deepEqual([...rejections].sort(), Object.keys(rejectionStatus).sort());
    const transitions = new Set(walks.flatMap(({ transitions }) => transitions));
    assert.deepEqual([...transitions].sort(), TRANSITIONS);
  }
  const steps = walks.reduce((sum, walk) => sum + walk.steps, 0);
  t.diagnostic(`${WORKERS * runs} sequences, ${steps} operations, seed ${seed}`);
});
