import { ApiError } from '../../contract/errors.ts';
import type { Scope } from '../../contract/scopes.ts';
import type { Queries } from '../../db/database.ts';
import { type Limits, type Plan, planLimits } from '../plans/plan.ts';
import { limitsOf } from './api-key.ts';
import { type ApiKeyRow, type ApiKeyTerms, quotasOf, selectAdministratorKeys } from './api-key-queries.ts';

/**
 * Throws `last_admin_key` when a change of `key` to `terms` (`undefined` revokes it) would leave the shop without an
 * administrator's key now, or earlier than without the change: the administrator's key that works longest cannot be revoked,
 * lose the scope, or expire earlier. Only keys with at least the limits of the Free plan count, because an administrator
 * with too few requests could not raise its own limits.
 */
export async function rejectLockout(
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
    `API key ${key.id} is the last administrator's key, or the one that works longest; first create another key with the ` +
      'scope `admin` that works as long and has at least the limits of plan `free`',
  );
}

function isAdministrator({ scopes, plan, quotas }: ApiKeyTerms): boolean {
  return (scopes as readonly Scope[]).includes('admin') && isAmple(plan, quotas);
}

function isAmple(plan: Plan, quotas: Limits | null): boolean {
  const { perMinute, perDay } = limitsOf(plan, quotas);
  return perMinute >= planLimits.free.perMinute && perDay >= planLimits.free.perDay;
}

/** Returns the latest expiry; null means never and is the latest. */
function longest(expiries: readonly (number | null)[]): number {
  return Math.max(...expiries.map(expiry => expiry ?? Number.POSITIVE_INFINITY));
}
