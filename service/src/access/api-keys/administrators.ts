import { ApiError } from '../../contract/errors.ts';
import type { Queries } from '../../db/database.ts';
import { type ApiKeyRow, type ApiKeyTerms, selectKeysWithScope } from './api-key-queries.ts';

/**
 * Throws `last_admin_key` when a change of `key` (`terms` is what it becomes, `undefined` when it is revoked) would leave
 * the shop without an administrator's key, now or sooner than it is going to anyway: of all such keys the one that works
 * longest may be neither revoked nor demoted nor made to expire earlier.
 */
export async function refuseToLockOut(
  db: Queries,
  key: ApiKeyRow,
  terms: Pick<ApiKeyTerms, 'scopes' | 'expiresAt'> | undefined,
  now: number,
): Promise<void> {
  const admins = await selectKeysWithScope(db, 'admin');
  const before = longest(admins.map(({ expires_at }) => expires_at));
  const others = admins.filter(({ id }) => id !== key.id).map(({ expires_at }) => expires_at);
  const after = longest(terms?.scopes.includes('admin') ? [...others, terms.expiresAt] : others);
  if (after >= before || before <= now) return;
  throw new ApiError(
    'last_admin_key',
    `API key ${key.id} is the last administrator's key, or the one that works longest; ` +
      'create another with the scope `admin` first, one that works as long',
  );
}

/** The latest of some expiries; null is never, and later than all. */
function longest(expiries: readonly (number | null)[]): number {
  return Math.max(...expiries.map(expiry => expiry ?? Number.POSITIVE_INFINITY));
}
