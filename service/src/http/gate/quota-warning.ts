import { quotaHeader } from '../../access/key-warnings/quota-rule.ts';
import type { KeyLimits, LimitedKey } from '../../access/rate-limits/key-limits.ts';
import type { HeaderPairs } from '../send.ts';

/** Adds the header with the parts of its limits that a key has used, if it must be warned, after its request was decided. */
export function addQuotaWarning(
  head: HeaderPairs,
  keyLimits: Pick<KeyLimits, 'seenStateOf'>,
  { keyId, terms }: LimitedKey,
): void {
  const state = keyLimits.seenStateOf(keyId, terms.resets);
  const value = state && quotaHeader(state, terms.limits, state.seenAt);
  if (value !== undefined) head.push('x-quota-warning', value);
}
