import type { Sweep } from '../kit/sweeper.ts';
import type { Route } from './define-route.ts';

/** A part of the service: its operations and its background work. */
export interface Feature {
  readonly routes: readonly Route[];
  /** Starts background work, before the first request is served. Features start in the order of the list. */
  start?(): void | Promise<void>;
  /** Sweeps of expired data, by the names under which failures are reported. */
  readonly sweeps?: Readonly<Record<string, Sweep>>;
  /** Ends background work, after the last response. Features end in the reverse order of the list. */
  close?(): Promise<void>;
}
