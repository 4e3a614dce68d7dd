import type { Sweep } from '../kit/sweeper.ts';
import type { Route } from './define-route.ts';

/** A part of the service: its operations, and what it does by itself. */
export interface Feature {
  readonly routes: readonly Route[];
  /** Starts the feature's own work, before the first request is served. Features start in the order of the list. */
  start?(): void | Promise<void>;
  /** Deletes what has expired, slice by slice; by the names under which failures are reported. */
  readonly sweeps?: Readonly<Record<string, Sweep>>;
  /** Ends its own work, after the last response. Features end in the reverse order of the list. */
  close?(): Promise<void>;
}
