import type { Counters } from './counters/counters.ts';
import { type WriteProblem, writeProblems } from './db/database.ts';
import type { Writability } from './db/writability.ts';

/** Why the service is degraded, as the label `reason` of a metric, by problem of the store. */
const reasonsOfStore = {
  full: 'disk_full',
  faulty: 'disk_faulty',
  readOnly: 'read_only',
  unconfirmed: 'commits_not_confirmed',
} as const satisfies Record<WriteProblem, string>;

/** All reasons, so that each has a series before it first applies. */
export const degradedReasons = [...Object.values(reasonsOfStore), 'limits_not_shared'] as const;

export interface Problem {
  reason: (typeof degradedReasons)[number];
  /** The problem and its consequence. */
  message: string;
}

/** Problems with which the service still serves requests. */
export class Problems {
  readonly #writability: Writability;
  readonly #counters: Pick<Counters, 'status'>;

  constructor(writability: Writability, counters: Pick<Counters, 'status'>) {
    this.#writability = writability;
    this.#counters = counters;
  }

  /** Probes the store at most once a second. */
  async current(): Promise<Problem[]> {
    const problems: Problem[] = [];
    const problem = await this.#writability.problem();
    if (problem !== undefined) {
      const message = `${writeProblems[problem]}: writes get 503, reads are served`;
      problems.push({ reason: reasonsOfStore[problem], message });
    }
    if (this.#counters.status() === 'fallback') {
      const message = 'Redis cannot be used: each replica counts limits by itself';
      problems.push({ reason: 'limits_not_shared', message });
    }
    return problems;
  }
}
