import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readConfig } from '../../service/src/config.ts';
import type { Terms } from '../../service/src/counters/decide.ts';
import { MemoryCounters } from '../../service/src/counters/memory.ts';
import { noteFullMinute } from '../../service/src/counters/windows.ts';
import { addQuotaWarning } from '../../service/src/http/gate/quota-warning.ts';
import type { Row } from '../harness/bench.ts';
import { atMost, figure } from '../harness/findings.ts';

const DECISIONS = 1_000_000;
const KEYS = 1_000;

/** The usual key is not near its limits: the header of one that was warned costs its text, too. */
const terms: Terms = {
  limits: { perMinute: 1_000_000_000, perDay: 1_000_000_000_000 },
  bansLiftedAt: 0,
  banRules: readConfig({}).banRules,
};

/**
 * What the warnings add to a decision: the look-up for the header after each, and the note of a used-up minute, which a key has once in
 * a minute at most, also after each. So it is an upper bound.
 */
export const warningCost: Row = {
  name: 'warning-cost',
  async measure({ effort }) {
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
        noteFullMinute(counters.keys.find(keyId, 0)!);
        addQuotaWarning(head, keyLimits, { keyId, terms }, now);
      }
    };
    const microseconds = (round: () => void) => {
      const started = performance.now();
      round();
      return ((performance.now() - started) * 1_000) / DECISIONS;
    };
    microseconds(without);
    microseconds(withWarnings);
    const added: number[] = [];
    const plain: number[] = [];
    while (added.length < effort.pairs) {
      plain.push(microseconds(without));
      added.push(microseconds(withWarnings) - plain.at(-1)!);
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
