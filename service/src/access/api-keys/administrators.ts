import { ApiError } from '../../contract/errors.ts';
import type { Scope } from '../../contract/scopes.ts';
import type { Queries } from '../../db/database.ts';
import { type Limits, type Plan, planLimits } from '../plans/plan.ts';
import { limitsOf } from './api-key.ts';
import { type ApiKeyRow, type ApiKeyTerms, quotasOf, selectAdministratorKeys } from './api-key-queries.ts';

/**
 * Throws `last_admin_key` when a change of `key` (`terms` is what it becomes, `undefined` when it is revoked) would leave
 * the shop without an administrator's key, now or sooner than it is going to anyway: of all such keys the one that works
 * longest may be neither revoked nor demoted nor made to expire earlier. Only keys with at least the limits of the Free plan
 * count: an administrator with hardly any requests could not even give itself more.
 */
export async function rejectToLockOut(
  db: Queries,
  key: ApiKeyRow,
  terms: ApiKeyTerms | undefined,
  now: number,
): Promise<void> {
  const keys = await selectAdministratorKeys(db);
  const admins = keys.filter(row => isAmple(row.plan, quotasOf(row)));
  const before = longest(admins.map(({ expires_at }) => expires_at));
  const others = admins.filter(({ id }) => id !== key.id).map(({ expires_at }) => expires_at);
  const after = longest(terms && isAdministrator(terms) ? [...others, terms.expiresAt] : others);
  if (after >= before || before <= now) return;
  throw new ApiError(
    'last_admin_key',
    `API key ${key.id} is the last administrator's key, or the one that works longest; create another with the scope ` +
      '`admin` first, one that works as long and has at least the limits of plan `free`',
  );
}

function isAdministrator({ scopes, plan, quotas }: ApiKeyTerms): boolean {
  return (scopes as readonly Scope[]).includes('admin') && isAmple(plan, quotas);
}

function isAmple(plan: Plan, quotas: Limits | null): boolean {
  const { perMinute, perDay } = limitsOf(plan, quotas);
  return perMinute >= planLimits.free.perMinute && perDay >= planLimits.free.perDay;
}

/** The latest of some expiries; null is never, and later than all. */
function longest(expiries: readonly (number | null)[]): number {
  return Math.max(...expiries.map(expiry => expiry ?? Number.POSITIVE_INFINITY));
}
