import type { Queries } from '../../db/database.ts';

/** Why nothing may be sent to the webhooks of a key. */
export interface OwnerProblem {
  /** A sentence without a full stop, such as `API key 7 was revoked`. */
  reason: string;
  /** When it began, in milliseconds since the Unix epoch. */
  since: number;
}

/** What the webhooks of a key may be sent. */
export interface OwnerStanding {
  /** `undefined` while the key works and has the scopes that its webhooks need. */
  problem: OwnerProblem | undefined;
  /** Whether they get the events that are for administrators. */
  isAdministrator: boolean;
}

/** Returns the standing of each of these keys, 100 of them at most. `now` is in milliseconds since the Unix epoch. */
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
