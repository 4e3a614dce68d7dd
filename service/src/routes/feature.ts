import type { Sweep } from '../kit/sweeper.ts';
import type { Route } from './define-route.ts';

/** A part of the service: its operations, and what it does by itself. */
export interface Feature {
  readonly routes: readonly Route[];
  /** Begins what it does by itself. Runs before the first request is served, after the features before it. */
  start?(): void | Promise<void>;
  /** Deletes what has expired, slice by slice; by the names under which failures are reported. */
  readonly sweeps?: Readonly<Record<string, Sweep>>;
  /** Ends what it does by itself. Runs when the last response was sent, after the features behind it. */
  close?(): Promise<void>;
}
