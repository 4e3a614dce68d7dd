import type { FilledStores } from '../stores/filled-stores.ts';
import type { Finding } from './findings.ts';
import type { LoadGenerator } from './load-generator.ts';

export interface Effort {
  /** Measurements of each side. They alternate, so that other load of the machine affects both. */
  pairs: number;
  seconds: number;
  warmUpSeconds: number;
}

/** What all rows share. */
export interface Bench {
  generator: LoadGenerator;
  effort: Effort;
  stores: FilledStores;
}

export interface Row {
  /** The name for `--only`. */
  name: string;
  measure(bench: Bench): Promise<Finding[]>;
}
