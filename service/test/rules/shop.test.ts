import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { sized } from '../support/long.ts';
import { startTestApp } from '../support/test-app.ts';
import { onPostgres } from '../support/test-store.ts';
import { randomSteps } from './shop-operations.ts';
import { rejectionStatus } from './shop-shapes.ts';
import { ShopUnderTest } from './shop-under-test.ts';

/**
 * Number of sequences: `MODEL_RUNS=100000 node --test …` searches longer. A database server takes about ten round trips per
 * step, so fewer run there: errors that depend on the rules alone are found on the embedded store.
 */
const RUNS = Number(process.env.MODEL_RUNS ?? (onPostgres ? sized(20, 200) : sized(150, 2_000)));

/** So many sequences reject for every reason, and change each status in every way, the rarest one about 10 times. */
const MANY_RUNS = 150;

/** Printed by a failure, to repeat it: `MODEL_SEED=… MODEL_PATH=…`. */
const { MODEL_SEED, MODEL_PATH } = process.env;

/** How a pet's status changes: never from sold to pending, and from sold to available only with its stock. */
const TRANSITIONS = [
  ...['available → pending', 'available → sold', 'pending → available', 'pending → sold'].flatMap(change =>
    ['inventory', 'orders', 'pets'].map(resource => `${change} by ${resource}`),
  ),
  'sold → available by inventory',
];

it('the shop behaves like a simple model of its rules, in every sequence of operations', async t => {
  const seed = MODEL_SEED === undefined ? Date.now() | 0 : Number(MODEL_SEED);
  const first = await startTestApp(t, { environment: { LOG_LEVEL: 'silent' } });
  const others = onPostgres ? await Promise.all([first.replica(), first.replica(), first.replica()]) : [];
  const shop = new ShopUnderTest(first, others);
  let steps = 0;
  const property = fc.asyncProperty(randomSteps, async sequence => {
    await shop.empty();
    for (const step of sequence) await shop.step(step);
    await shop.assertRebuilt();
    steps += sequence.length;
  });
  const repeated = MODEL_PATH !== undefined && { path: MODEL_PATH, endOnFailure: true };
  await fc.assert(property, { numRuns: RUNS, seed, ...repeated });
  // A sequence that never breaks a rule does not test it.
  if (MODEL_PATH === undefined && RUNS >= MANY_RUNS) {
    assert.deepEqual([...shop.rejections].sort(), Object.keys(rejectionStatus).sort());
    assert.deepEqual([...shop.transitions].sort(), TRANSITIONS);
  }
  t.diagnostic(`${RUNS} sequences, ${steps} operations, seed ${seed}`);
});
