import type { Services } from '../../contract/define-route.ts';
import type { KeyLimits } from '../rate-limits/key-limits.ts';
import type { Caller, KeyRing } from './key-ring.ts';

/** What the operations on keys are given beside what all are. */
export interface AccessServices extends Services {
  keyRing: KeyRing;
  keyLimits: KeyLimits;
  /** Whose key the request has; `undefined` where none is needed. */
  caller: Caller | undefined;
}
