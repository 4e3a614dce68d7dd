import type { Queries } from '../../db/database.ts';
import type { OwnerProblem, OwnerStanding } from '../../events/webhooks/owners.ts';
import { formatDateTime } from '../../kit/dates.ts';
import { type ApiKeyRow, scopesOf, selectApiKeysOf } from './api-key-queries.ts';

/** Reads the state of these keys, at most 100, for their webhooks. */
export async function readStandings(
  db: Queries,
  keyIds: readonly number[],
  now: number,
): Promise<ReadonlyMap<number, OwnerStanding>> {
  const rows = await selectApiKeysOf(db, keyIds);
  return new Map(rows.map(row => [row.id, standingOf(row, now)]));
}

export function standingOf(row: ApiKeyRow, now: number): OwnerStanding {
  return { keyId: row.id, ended: endOf(row, now), scopes: new Set(scopesOf(row)) };
}

function endOf({ id, revoked_at, expires_at }: ApiKeyRow, now: number): OwnerProblem | undefined {
  if (revoked_at !== null) return { reason: `API key ${id} was revoked`, since: revoked_at };
  if (expires_at !== null && expires_at <= now)
    return { reason: `API key ${id} expired at ${formatDateTime(expires_at)}`, since: expires_at };
  return undefined;
}
