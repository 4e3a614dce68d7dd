import type { Finding } from '../harness/findings.ts';
import type { LoadGenerator } from '../harness/load-generator.ts';
import type { Effort } from '../harness/pairs.ts';

export interface Row {
  /** For `--only`. */
  name: string;
  measure(generator: LoadGenerator, effort: Effort): Promise<Finding[]>;
}

/** Connections of every load that measures throughput. */
export const CONNECTIONS = 64;
