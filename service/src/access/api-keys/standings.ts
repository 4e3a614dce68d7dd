import type { Scope } from '../../contract/scopes.ts';
import type { Queries } from '../../db/database.ts';
import type { OwnerProblem, OwnerStanding } from '../../events/webhooks/owners.ts';
import { formatDateTime } from '../../kit/dates.ts';
import { type ApiKeyRow, scopesOf, selectApiKeysOf } from './api-key-queries.ts';

/** The scopes that a key needs for its webhooks, which otherwise stop. */
const WEBHOOK_SCOPES = ['webhooks:write', 'events:read'] as const satisfies readonly Scope[];

/** Reads what the webhooks of these keys, at most 100, are allowed to receive. */
export async function readStandings(
  db: Queries,
  keyIds: readonly number[],
  now: number,
): Promise<ReadonlyMap<number, OwnerStanding>> {
  const rows = await selectApiKeysOf(db, keyIds);
  return new Map(rows.map(row => [row.id, standingOf(row, now)]));
}

export function standingOf(row: ApiKeyRow, now: number): OwnerStanding {
  const scopes = scopesOf(row);
  const isAdministrator = scopes.includes('admin');
  const missing = isAdministrator ? [] : WEBHOOK_SCOPES.filter(scope => !scopes.includes(scope));
  return { problem: problemOf(row, missing, now), isAdministrator };
}

function problemOf(
  { id, revoked_at, expires_at }: ApiKeyRow,
  missing: readonly Scope[],
  now: number,
): OwnerProblem | undefined {
  if (revoked_at !== null) return { reason: `API key ${id} was revoked`, since: revoked_at };
  if (expires_at !== null && expires_at <= now)
    return { reason: `API key ${id} expired at ${formatDateTime(expires_at)}`, since: expires_at };
  if (missing.length === 0) return undefined;
  const names = missing.map(scope => `\`${scope}\``).join(' and ');
  return { reason: `API key ${id} lacks the scope${missing.length > 1 ? 's' : ''} ${names}`, since: now };
}
