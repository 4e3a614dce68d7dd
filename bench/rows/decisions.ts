import { PerformanceObserver, performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { planLimits } from '../../service/src/access/plans/plan.ts';
import { readConfig } from '../../service/src/config.ts';
import type { Terms } from '../../service/src/counters/decide.ts';
import { MemoryCounters } from '../../service/src/counters/memory.ts';
import { noteFullMinute } from '../../service/src/counters/windows.ts';
import { addQuotaWarning } from '../../service/src/http/gate/quota-warning.ts';
import type { Row } from '../harness/bench.ts';
import { atMost, figure } from '../harness/findings.ts';

const DECISIONS = 1_000_000;
const KEYS = 1_000;

const termsWith = (limits: Terms['limits']): Terms => ({
  limits,
  bansLiftedAt: 0,
  banRules: readConfig({}).banRules,
});

/** The microseconds of a decision in a round of `DECISIONS`. */
function timed(round: () => void): number {
  const started = performance.now();
  round();
  return ((performance.now() - started) * 1_000) / DECISIONS;
}

export const limitDecision: Row = {
  name: 'limit-decision',
  async measure({ effort }) {
    // Half of the keys are over their limits most of the time, and banned.
    const terms = [planLimits.business, planLimits.free].map(termsWith);
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
    const values: number[] = [];
    while (values.length < effort.pairs) {
      values.push(timed(round));
      await nextTurn();
    }
    observer.disconnect();
    const milliseconds = (values.reduce((sum, value) => sum + value) * DECISIONS) / 1_000;
    const share = ((admitted / ((values.length + 1) * DECISIONS)) * 100).toFixed(0);
    return [
      figure({
        what: 'limit decision, hot',
        target: atMost(' µs', 2),
        values,
        digits: 3,
        absolute: `${((collecting / milliseconds) * 100).toFixed(2)} % of it garbage collection; ${KEYS} keys, ${share} % admitted`,
      }),
    ];
  },
};

/**
 * What the warnings add to a decision: the look-up for the header after each, and the note of a used-up minute, which a key has once in
 * a minute at most, also after each. So it is an upper bound.
 */
export const warningCost: Row = {
  name: 'warning-cost',
  async measure({ effort }) {
    // The usual key is not near its limits: the header of one that was warned costs its text, too.
    const terms = termsWith({ perMinute: 1_000_000_000, perDay: 1_000_000_000_000 });
    const now = Date.now();
    const counters = new MemoryCounters();
    const keyLimits = { seenStateOf: (keyId: number, resets = 0) => counters.keys.find(keyId, resets) };
    const head: string[] = [];
    const without = () => {
      for (let i = 0; i < DECISIONS; i++) counters.decideKey(1 + (i % KEYS), terms, now);
    };
    const withWarnings = () => {
      for (let i = 0; i < DECISIONS; i++) {
        const keyId = 1 + (i % KEYS);
        counters.decideKey(keyId, terms, now);
        noteFullMinute(counters.keys.find(keyId, 0)!, terms.limits.perMinute);
        addQuotaWarning(head, keyLimits, { keyId, terms });
      }
    };
    without();
    withWarnings();
    const added: number[] = [];
    const plain: number[] = [];
    while (added.length < effort.pairs) {
      plain.push(timed(without));
      added.push(timed(withWarnings) - plain.at(-1)!);
      await nextTurn();
    }
    return [
      figure({
        what: 'warnings, added to a decision',
        target: atMost(' µs', 0.1),
        values: added,
        digits: 3,
        absolute: `a decision without them takes ${Math.min(...plain).toFixed(3)} µs; ${KEYS} keys`,
      }),
    ];
  },
};
