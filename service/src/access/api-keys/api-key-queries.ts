import type { Scope } from '../../contract/scopes.ts';
import { assignedId, integer, nullable, text } from '../../db/columns.ts';
import { one, type Queries, type Transaction, type Value } from '../../db/database.ts';
import { defineList, type QueryOf } from '../../db/list.ts';
import { isOneOf } from '../../db/select-page.ts';
import { type ResourceOf, Table } from '../../db/table.ts';
import type { Limits, Plan } from '../plans/plan.ts';

/** What an administrator says of a key. Instants are in milliseconds since the Unix epoch. */
const settings = {
  name: text('name'),
  plan: text<Plan>('plan'),
  scopes: text('scopes'),
  per_minute: nullable(integer('per_minute')),
  per_day: nullable(integer('per_day')),
  expires_at: nullable(integer('expires_at')),
};

const settingsTable = new Table('api_keys', settings);

/** Keys as they are stored, without their secrets: a row needs no conversion. */
const keyTable = new Table('api_keys', {
  ...settings,
  id: assignedId,
  created_at: integer('created_at'),
  revoked_at: nullable(integer('revoked_at')),
  last_used_at: nullable(integer('last_used_at')),
  bans_lifted_at: nullable(integer('bans_lifted_at')),
  /** How often its limits were reset. */
  limits_resets: integer('limits_resets'),
});

export type ApiKeyRow = ResourceOf<typeof keyTable>;

const COLUMNS = keyTable.columns;

/** What a key may do. */
export function scopesOf({ scopes }: Pick<ApiKeyRow, 'scopes'>): Scope[] {
  return scopes.split(' ') as Scope[];
}

/** The limits negotiated for a key; null where those of its plan apply. */
export function quotasOf({ per_minute, per_day }: ApiKeyRow): Limits | null {
  return per_minute === null || per_day === null ? null : { perMinute: per_minute, perDay: per_day };
}

export interface ApiKeyTerms {
  name: string;
  plan: Plan;
  scopes: readonly Scope[];
  quotas: Limits | null;
  /** Milliseconds since the Unix epoch. */
  expiresAt: number | null;
}

function valuesOf({ name, plan, scopes, quotas, expiresAt }: ApiKeyTerms): Value[] {
  return settingsTable.valuesOf({
    name,
    plan,
    scopes: scopes.join(' '),
    per_minute: quotas?.perMinute ?? null,
    per_day: quotas?.perDay ?? null,
    expires_at: expiresAt,
  });
}

export function insertApiKey(
  db: Queries,
  hash: Uint8Array,
  terms: ApiKeyTerms,
  now: number,
): Promise<ApiKeyRow> {
  return one(
    db,
    `INSERT INTO api_keys (hash, created_at, ${settingsTable.written.join(', ')})
     VALUES (?, ?, ${settingsTable.parameters}) RETURNING ${COLUMNS}`,
    [hash, now, ...valuesOf(terms)],
  );
}

export function updateApiKey(db: Queries, keyId: number, terms: ApiKeyTerms): Promise<ApiKeyRow> {
  return one(db, `UPDATE api_keys SET ${settingsTable.assignments} WHERE id = ? RETURNING ${COLUMNS}`, [
    ...valuesOf(terms),
    keyId,
  ]);
}

export function selectApiKey(db: Queries, keyId: number): Promise<ApiKeyRow | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM api_keys WHERE id = ?`, [keyId]);
}

/** Some keys, 1 to 100 of them. */
export function selectApiKeysOf(db: Queries, keyIds: readonly number[]): Promise<ApiKeyRow[]> {
  const [condition, ids] = isOneOf('id', keyIds);
  return db.all(`SELECT ${COLUMNS} FROM api_keys WHERE ${condition}`, ids);
}

/** Keeps all keys from other transactions until this one ends: whether a key may change depends on the others. */
export function lockApiKeys(tx: Transaction): Promise<void> {
  return tx.lock('api keys');
}

/** Reads a key that may be changed, and locks all keys. */
export async function selectApiKeyToChange(tx: Transaction, keyId: number): Promise<ApiKeyRow | undefined> {
  const [, row] = await Promise.all([lockApiKeys(tx), selectApiKey(tx, keyId)]);
  return row;
}

export interface KeyBySecretRow extends ApiKeyRow {
  /** When the secret ends, if it was rotated out. */
  secret_expires_at: number | null;
}

/** The key that a secret belongs to, be it the current one or one before it. */
export function selectApiKeyByHash(db: Queries, hash: Uint8Array): Promise<KeyBySecretRow | undefined> {
  return db.get(
    `SELECT ${COLUMNS}, NULL AS secret_expires_at FROM api_keys WHERE hash = ?
     UNION ALL
     SELECT ${COLUMNS}, (SELECT p.expires_at FROM previous_secrets p WHERE p.hash = ?) FROM api_keys
     WHERE id = (SELECT p.api_key_id FROM previous_secrets p WHERE p.hash = ?)`,
    [hash, hash, hash],
  );
}

/** Puts `hash` in the place of a key's secret; all its earlier secrets end at `earlierExpireAt`, or sooner as they were to. */
export async function replaceSecret(
  db: Queries,
  keyId: number,
  hash: Uint8Array,
  earlierExpireAt: number,
): Promise<void> {
  await db.run('UPDATE previous_secrets SET expires_at = ? WHERE api_key_id = ? AND expires_at > ?', [
    earlierExpireAt,
    keyId,
    earlierExpireAt,
  ]);
  await db.run(
    'INSERT INTO previous_secrets (hash, api_key_id, expires_at) SELECT hash, id, ? FROM api_keys WHERE id = ?',
    [earlierExpireAt, keyId],
  );
  await db.run('UPDATE api_keys SET hash = ? WHERE id = ?', [hash, keyId]);
}

/** Deletes secrets that expired before `instant`, at most `limit`. Returns how many it deleted. */
export function deleteSecretsExpiredBefore(db: Queries, instant: number, limit: number): Promise<number> {
  return db.run(
    'DELETE FROM previous_secrets WHERE hash IN (SELECT hash FROM previous_secrets WHERE expires_at < ? LIMIT ?)',
    [instant, limit],
  );
}

export async function anyApiKey(db: Queries): Promise<boolean> {
  return (await db.get('SELECT 1 FROM api_keys LIMIT 1')) !== undefined;
}

/** Revokes a key; one revoked before keeps its date. */
export function revokeApiKey(db: Queries, keyId: number, now: number): Promise<number> {
  return db.run('UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?', [now, keyId]);
}

export function liftBans(db: Queries, keyId: number, now: number): Promise<number> {
  return db.run('UPDATE api_keys SET bans_lifted_at = ? WHERE id = ?', [now, keyId]);
}

/** From now on what a key has used before does not count. */
export function resetLimits(db: Queries, keyId: number): Promise<number> {
  return db.run('UPDATE api_keys SET limits_resets = limits_resets + 1 WHERE id = ?', [keyId]);
}

/** The keys with the scope `admin` that were not revoked. The condition is that of an index, to the letter. */
export function selectAdministratorKeys(db: Queries): Promise<ApiKeyRow[]> {
  return db.all(
    `SELECT ${COLUMNS} FROM api_keys WHERE revoked_at IS NULL AND ' ' || scopes || ' ' LIKE '% admin %'`,
  );
}

export const keyList = defineList(keyTable, {
  filters: {},
  sorts: { id: ['id'] },
  defaultSort: 'id',
  indexes: [{ columns: ['id'] }],
});

export type ApiKeyQuery = QueryOf<typeof keyList>;
