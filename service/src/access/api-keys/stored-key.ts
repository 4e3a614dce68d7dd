import { ApiError } from '../../contract/errors.ts';
import type { LimitState } from '../../counters/decide.ts';
import { formatDateTime, toInstant } from '../../kit/dates.ts';
import { banOf, lastUsedAt } from '../rate-limits/key-limits.ts';
import { type ApiKey, type ApiKeySettings, rejectMismatchedQuotas } from './api-key.ts';
import { type ApiKeyTerms, networksOf, quotasOf, type StoredApiKey, scopesOf } from './api-key-queries.ts';
import { rejectMismatchedKind } from './mismatched-kind.ts';
import { rejectOtherThanNetworks } from './networks.ts';

/**
 * Converts the settings of a key for storing. Throws `invalid_request` when the quotas do not match the plan, or other
 * settings the kind.
 */
export function termsOf(settings: ApiKeySettings): ApiKeyTerms {
  const { name, kind, plan, scopes, quotas, origins, allowedNetworks, expiresAt } = settings;
  rejectMismatchedQuotas(plan, quotas);
  rejectMismatchedKind(settings);
  rejectOtherThanNetworks(allowedNetworks);
  return {
    name,
    kind,
    plan,
    scopes,
    quotas: quotas ?? null,
    origins: origins ?? null,
    allowedNetworks: allowedNetworks ?? null,
    expiresAt: expiresAt === undefined ? null : toInstant(expiresAt),
  };
}

export function rejectPastExpiry(expiresAt: number, now: number): void {
  if (expiresAt > now) return;
  throw new ApiError(
    'invalid_request',
    `Field \`expiresAt\` must be in the future, but was ${formatDateTime(expiresAt)}; to end a key now, revoke it`,
  );
}

/**
 * Converts a stored key to the resource. A state from before the last reset of its limits does not count: it may have been read before
 * the reset.
 */
export function toApiKey(row: StoredApiKey, state: Readonly<LimitState> | undefined, now: number): ApiKey {
  const counted = state && state.resets >= row.limits_resets ? state : undefined;
  const usedAt = lastUsedAt(counted, row.last_used_at, now);
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    scopes: scopesOf(row),
    kind: row.kind,
    quotas: quotasOf(row),
    origins: row.origins && [...row.origins],
    allowedNetworks: networksOf(row),
    createdAt: formatDateTime(row.created_at),
    expiresAt: row.expires_at === null ? null : formatDateTime(row.expires_at),
    revokedAt: row.revoked_at === null ? null : formatDateTime(row.revoked_at),
    lastUsedAt: usedAt === 0 ? null : formatDateTime(usedAt),
    lastUsedFrom: row.last_used_from,
    lastUsedClient: row.last_used_client,
    ban: banOf(counted, row.bans_lifted_at ?? 0, now),
  };
}
