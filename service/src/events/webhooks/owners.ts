import { missingScopes, type Scope, scopesInWords } from '../../contract/scopes.ts';
import type { Queries } from '../../db/database.ts';
import { lackOf, matchingTypes } from '../event-log/event-filter.ts';
import { type EventType, shopScopes } from '../event-log/event-types.ts';

/** The scopes that a key needs for its webhooks, in addition to those that their events need. */
export const WEBHOOK_SCOPES = ['webhooks:write', 'events:read'] as const satisfies readonly Scope[];

/** The reason why nothing may be sent to a webhook. */
export interface OwnerProblem {
  /** A sentence without a full stop, such as `API key 7 was revoked`. */
  reason: string;
  /** When the problem started, in milliseconds since the Unix epoch. */
  since: number;
}

/** The state of a key to which webhooks belong. */
export interface OwnerStanding {
  keyId: number;
  /** Why the key is no longer valid; `undefined` while it is. */
  ended: OwnerProblem | undefined;
  scopes: ReadonlySet<Scope>;
}

/** Returns the standing of each of these keys, at most 100. `now` is in milliseconds since the Unix epoch. */
export type ReadStandings = (
  db: Queries,
  keyIds: readonly number[],
  now: number,
) => Promise<ReadonlyMap<number, OwnerStanding>>;

/** Reads the standing of one key. */
export async function standingOf(
  readStandings: ReadStandings,
  db: Queries,
  keyId: number,
  now: number,
): Promise<OwnerStanding> {
  return (await readStandings(db, [keyId], now)).get(keyId)!;
}

/**
 * Returns why nothing may be sent to a webhook of this key; `undefined` if its events may be sent. A webhook with `types` needs
 * the scopes of all of them. A webhook for all events gets those that the key may read, and needs at least one scope for that.
 */
export function problemOf(
  { types }: { types: string | null },
  { keyId, ended, scopes }: OwnerStanding,
  now: number,
): OwnerProblem | undefined {
  if (ended) return ended;
  const lack = lackOfOwner(types, scopes);
  return lack === undefined ? undefined : { reason: `API key ${keyId} ${lack}`, since: now };
}

function lackOfOwner(types: string | null, scopes: ReadonlySet<Scope>): string | undefined {
  const missing = missingScopes(WEBHOOK_SCOPES, scopes);
  if (missing.length > 0) return `lacks the ${scopesInWords(missing)}`;
  if (missingScopes(shopScopes, scopes).length === shopScopes.length)
    return `has none of the ${scopesInWords(shopScopes)}`;
  const lack = types === null ? undefined : lackOf(namedTypes(types), scopes);
  return lack && `lacks the ${lack}`;
}

/** Returns the event types that the stored `types` of a webhook name. */
export function namedTypes(types: string): EventType[] {
  return types.split(' ').flatMap(matchingTypes);
}
