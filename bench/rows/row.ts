import type { Finding } from '../harness/findings.ts';
import type { LoadGenerator } from '../harness/load-generator.ts';
import type { Effort } from '../harness/pairs.ts';

export interface Row {
  /** The name for `--only`. */
  name: string;
  measure(generator: LoadGenerator, effort: Effort): Promise<Finding[]>;
}

/** The number of connections of each load that measures throughput. */
export const CONNECTIONS = 64;
