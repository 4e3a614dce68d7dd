import type { Queries, Statements } from '../db/database.ts';
import { deleteSlice } from '../db/delete-slice.ts';

export interface OutcomeRow {
  fingerprint: Uint8Array;
  /** The path of the created resource; null if the request created none. */
  location: string | null;
  body: string;
}

export function selectOutcome(
  db: Queries,
  apiKeyId: number,
  idempotencyKey: string,
  since: number,
): Promise<OutcomeRow | undefined> {
  return db.get(
    `SELECT fingerprint, location, body FROM idempotency_keys
     WHERE api_key_id = ? AND idempotency_key = ? AND created_at >= ?`,
    [apiKeyId, idempotencyKey, since],
  );
}

/** Stores an outcome. Replaces an expired outcome of the same key. */
export function insertOutcome(
  db: Statements,
  apiKeyId: number,
  idempotencyKey: string,
  { fingerprint, location, body }: OutcomeRow,
  now: number,
): Promise<number> {
  return db.run(
    `INSERT INTO idempotency_keys (api_key_id, idempotency_key, fingerprint, location, body, created_at)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (api_key_id, idempotency_key) DO UPDATE SET
       fingerprint = excluded.fingerprint, location = excluded.location, body = excluded.body,
       created_at = excluded.created_at`,
    [apiKeyId, idempotencyKey, fingerprint, location, body, now],
  );
}

/** Deletes the oldest outcomes from before `instant`, at most `limit`. Returns how many it deleted. */
export function deleteOutcomesBefore(db: Statements, instant: number, limit: number): Promise<number> {
  const which = 'created_at < ? ORDER BY created_at';
  return deleteSlice(db, 'idempotency_keys', 'api_key_id, idempotency_key', which, [instant, limit]);
}
