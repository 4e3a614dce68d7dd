import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MINUTE, SECOND } from '../../kit/clock.ts';
import { OtlpTracing } from './otlp-tracing.ts';

/** Tracing to a collector that cannot be reached. */
function tracingWith(t: TestContext, ratio: number) {
  const losses: number[] = [];
  const tracing = new OtlpTracing({
    settings: {
      url: 'http://127.0.0.1:1',
      headers: {},
      timeout: MINUTE,
      resource: {},
      sampler: { ratio, isParentBased: true },
      queue: { size: 8, batch: 8, delay: MINUTE },
    },
    onLoss: spans => void losses.push(spans),
  });
  t.after(() => tracing.close());
  const begin = () =>
    tracing.begin('GET /pets', { kind: 'server', parent: undefined, attributes: () => ({}) });
  return { tracing, begin, losses };
}

it('about the given share of new traces is recorded', t => {
  const { begin } = tracingWith(t, 0.01);
  const recorded = Array.from({ length: 10_000 }, begin).filter(({ isRecorded }) => isRecorded).length;
  // Random numbers are outside of this range once in more than a billion runs.
  assert.ok(recorded > 30 && recorded < 200, String(recorded));
});

it('the end waits two seconds for a collector that cannot be reached, and no longer, and reports all lost spans', async t => {
  const { tracing, begin, losses } = tracingWith(t, 1);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (let i = 0; i < 9; i++) begin().end();
  let hasEnded = false;
  const closing = tracing.close().then(() => {
    hasEnded = true;
  });
  t.mock.timers.tick(2 * SECOND - 1);
  for (let i = 0; i < 20; i++) await nextTurn();
  assert.equal(hasEnded, false);
  t.mock.timers.tick(1);
  await closing;
  // The first export has a full batch, and the last one the rest.
  assert.deepEqual(losses, [8, 1]);
});
