import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { onPostgres } from '../support/test-store.ts';
import { rejectionStatus } from './shop-shapes.ts';
import type { Walk, Walked } from './shop-walk.ts';

/**
 * How many sequences are tried: `MODEL_RUNS=100000 node --test …` searches longer. A server has to be asked over a network
 * some ten times a step: what depends on the rules alone is found on the embedded store.
 */
const RUNS = Number(process.env.MODEL_RUNS ?? (onPostgres ? 300 : 2_000));

/** What a failure prints, to try the same again: `MODEL_SEED=… MODEL_PATH=…`. */
const { MODEL_SEED, MODEL_PATH } = process.env;

/** One for each of two processors. */
const WORKERS = MODEL_PATH === undefined ? 2 : 1;

/** In a thread of its own. A failure there is thrown here. */
async function walk(workerData: Walk): Promise<Walked> {
  const worker = new Worker(new URL('shop-walk.ts', import.meta.url), { workerData });
  const [[walked]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
  return walked;
}

describe('the shop', () => {
  it('does what a simple model of its rules does, in every sequence of operations', async t => {
    const seed = MODEL_SEED === undefined ? Date.now() | 0 : Number(MODEL_SEED);
    const runs = Math.ceil(RUNS / WORKERS);
    const walks = await Promise.all(
      Array.from({ length: WORKERS }, (_, i) => walk({ seed: (seed + i) | 0, runs, path: MODEL_PATH })),
    );
    // Sequences that never met a rule would say nothing about it.
    if (MODEL_PATH === undefined) {
      const rejections = new Set(walks.flatMap(({ rejections }) => rejections));
      assert.deepEqual([...rejections].sort(), Object.keys(rejectionStatus).sort());
    }
    const steps = walks.reduce((sum, walk) => sum + walk.steps, 0);
    t.diagnostic(`${WORKERS * runs} sequences, ${steps} operations, seed ${seed}`);
  });
});
