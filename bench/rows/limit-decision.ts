import { PerformanceObserver, performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { planLimits } from '../../service/src/access/plans/plan.ts';
import { readConfig } from '../../service/src/config.ts';
import type { Terms } from '../../service/src/counters/decide.ts';
import { MemoryCounters } from '../../service/src/counters/memory.ts';
import type { Row } from '../harness/bench.ts';
import { atMost, figure } from '../harness/findings.ts';

const DECISIONS = 1_000_000;
const KEYS = 1_000;

/** Half of the keys are over their limits most of the time, and banned. */
const terms: Terms[] = [planLimits.business, planLimits.free].map(limits => ({
  limits,
  bansLiftedAt: 0,
  banRules: readConfig({}).banRules,
}));

export const limitDecision: Row = {
  name: 'limit-decision',
  async measure({ effort }) {
    const counters = new MemoryCounters();
    let clock = Date.now();
    let admitted = 0;
    const round = () => {
      for (let i = 0; i < DECISIONS; i++) {
        const keyId = 1 + (i % KEYS);
        // Each key sends 20 requests per second, so that windows start and end during the measurement.
        if (keyId === KEYS) clock += 50;
        if (counters.decideKey(keyId, terms[keyId & 1]!, clock).verdict === 'admitted') admitted++;
      }
    };
    round();
    let collecting = 0;
    const observer = new PerformanceObserver(list => {
      for (const { duration } of list.getEntries()) collecting += duration;
    });
    observer.observe({ entryTypes: ['gc'] });
    const microseconds: number[] = [];
    let busy = 0;
    while (microseconds.length < effort.pairs) {
      const started = performance.now();
      round();
      const elapsed = performance.now() - started;
      busy += elapsed;
      microseconds.push((elapsed * 1_000) / DECISIONS);
      await nextTurn();
    }
    observer.disconnect();
    const share = ((admitted / ((microseconds.length + 1) * DECISIONS)) * 100).toFixed(0);
    return [
      figure({
        what: 'limit decision, hot',
        target: atMost(' µs', 2),
        values: microseconds,
        digits: 3,
        absolute: `${((collecting / busy) * 100).toFixed(2)} % of it garbage collection; ${KEYS} keys, ${share} % admitted`,
      }),
    ];
  },
};
