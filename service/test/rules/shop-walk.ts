// A worker: runs random sequences of operations and batches on the service and its model, and posts the counts.
import { parentPort, workerData } from 'node:worker_threads';
import fc from 'fast-check';
import { startTestApp } from '../support/test-app.ts';
import { onPostgres } from '../support/test-store.ts';
import { randomSteps } from './shop-operations.ts';
import { ShopUnderTest } from './shop-under-test.ts';

export interface Walk {
  seed: number;
  /** Number of sequences. */
  runs: number;
  /** The seed and path of a failure, to repeat it. */
  path: string | undefined;
}

export interface Walked {
  /** Number of operations and batches. */
  steps: number;
  rejections: string[];
  /** The changes of a pet's status. */
  transitions: string[];
}

const { seed, runs, path } = workerData as Walk;
const cleanUps: (() => Promise<void>)[] = [];
try {
  const test = { after: (cleanUp: () => Promise<void>) => void cleanUps.push(cleanUp) };
  const first = await startTestApp(test, { environment: { LOG_LEVEL: 'silent' } });
  const others = onPostgres ? await Promise.all([first.replica(), first.replica(), first.replica()]) : [];
  const shop = new ShopUnderTest(first, others);
  let steps = 0;
  const property = fc.asyncProperty(randomSteps, async sequence => {
    await shop.empty();
    for (const step of sequence) await shop.step(step);
    await shop.assertRebuilt();
    steps += sequence.length;
  });
  await fc.assert(property, { numRuns: runs, seed, ...(path !== undefined && { path, endOnFailure: true }) });
  const result: Walked = { steps, rejections: [...shop.rejections], transitions: [...shop.transitions] };
  parentPort!.postMessage(result);
} finally {
  for (const cleanUp of cleanUps) await cleanUp();
}
