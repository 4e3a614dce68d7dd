import type { Queries } from '../../db/database.ts';

/** The reason why nothing may be sent to the webhooks of a key. */
export interface OwnerProblem {
  /** A sentence without a full stop, such as `API key 7 was revoked`. */
  reason: string;
  /** When the problem started, in milliseconds since the Unix epoch. */
  since: number;
}

/** The events that the webhooks of a key may get. */
export interface OwnerStanding {
  /** `undefined` while the key works and has the scopes that its webhooks need. */
  problem: OwnerProblem | undefined;
  /** Whether they get events for administrators. */
  isAdministrator: boolean;
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
