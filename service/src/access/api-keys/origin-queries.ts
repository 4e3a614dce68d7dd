import type { KeyKind } from '../../contract/key-kinds.ts';
import type { Queries, Statements } from '../../db/database.ts';
import { recordsSql } from '../../db/records-sql.ts';
import { isOneOf } from '../../db/select-page.ts';

/** Stores the origins of a key that has none yet. */
export async function insertOrigins(
  db: Statements,
  keyId: number,
  origins: readonly string[],
): Promise<void> {
  const rows = origins.map(origin => ({ api_key_id: keyId, origin }));
  const [records, json] = recordsSql(db.engine, { api_key_id: 'BIGINT', origin: 'TEXT' }, rows);
  await db.run(
    `INSERT INTO api_key_origins (api_key_id, origin) SELECT api_key_id, origin FROM ${records} AS records`,
    [json],
  );
}

export async function replaceOrigins(
  db: Statements,
  keyId: number,
  origins: readonly string[],
): Promise<void> {
  await db.run('DELETE FROM api_key_origins WHERE api_key_id = ?', [keyId]);
  await insertOrigins(db, keyId, origins);
}

/** Reads the origins of the publishable keys among 1 to 100 keys, by ID. Without such keys it reads nothing. */
export async function selectOrigins(
  db: Queries,
  keys: readonly { id: number; kind: KeyKind }[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  const keyIds = keys.filter(({ kind }) => kind === 'publishable').map(({ id }) => id);
  if (keyIds.length === 0) return new Map();
  const [condition, ids] = isOneOf('api_key_id', keyIds);
  const rows = await db.all<{ api_key_id: number; origin: string }>(
    `SELECT api_key_id, origin FROM api_key_origins WHERE ${condition} ORDER BY api_key_id, origin`,
    ids,
  );
  const byKey = Map.groupBy(rows, row => row.api_key_id);
  return new Map(keyIds.map(keyId => [keyId, (byKey.get(keyId) ?? []).map(({ origin }) => origin)]));
}

/** Whether a key that is neither revoked nor expired at `now` lists this origin. Only publishable keys have origins. */
export async function selectActiveOrigin(db: Queries, origin: string, now: number): Promise<boolean> {
  const found = await db.get(
    `SELECT 1 FROM api_key_origins JOIN api_keys ON api_keys.id = api_key_id
     WHERE origin = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?) LIMIT 1`,
    [origin, now],
  );
  return found !== undefined;
}
