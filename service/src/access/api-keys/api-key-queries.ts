import type { KeyKind } from '../../contract/key-kinds.ts';
import { nameText } from '../../contract/schema.ts';
import type { Scope } from '../../contract/scopes.ts';
import { assignedId, boolean, foldedText, integer, nullable, text } from '../../db/columns.ts';
import { one, type Queries, type Statements, type Transaction, type Value } from '../../db/database.ts';
import { defineList } from '../../db/define-list.ts';
import { deleteSlice } from '../../db/delete-slice.ts';
import { is, type QueryOf, startsWith } from '../../db/list.ts';
import { isOneOf } from '../../db/select-page.ts';
import { type ResourceOf, Table } from '../../db/table.ts';
import { nextExpiryWarning } from '../key-warnings/expiry-warning.ts';
import { type Limits, type Plan, plans } from '../plans/plan.ts';
import { insertOrigins, replaceOrigins, selectOrigins } from './origin-queries.ts';

/** The settings of a key. Instants are in milliseconds since the Unix epoch. */
const settings = {
  name: foldedText('name', 'name_key'),
  kind: text<KeyKind>('kind'),
  plan: text<Plan>('plan'),
  scopes: text('scopes'),
  allowed_networks: nullable(text('allowed_networks')),
  per_minute: nullable(integer('per_minute')),
  per_day: nullable(integer('per_day')),
  expires_at: nullable(integer('expires_at')),
};

const settingsTable = new Table('api_keys', settings);

/** Keys without their secrets. The resource is the row itself, without conversion. */
const keyTable = new Table('api_keys', {
  ...settings,
  id: assignedId,
  created_at: integer('created_at'),
  revoked_at: nullable(integer('revoked_at')),
  last_used_at: nullable(integer('last_used_at')),
  last_used_from: nullable(text('last_used_from')),
  last_used_client: nullable(text('last_used_client')),
  bans_lifted_at: nullable(integer('bans_lifted_at')),
  /** When the event of a reported secret was last appended, if the service only reports leaked keys. */
  leak_reported_at: nullable(integer('leak_reported_at')),
  /** Grows with each reset of the limits, to its instant at least. Starts at the creation of the key: a lost key could have had the same ID. */
  limits_resets: integer('limits_resets'),
});

export type ApiKeyRow = ResourceOf<typeof keyTable>;

/** A key with its origins, in their order in the database; null for a key that is not publishable. */
export interface StoredApiKey extends ApiKeyRow {
  origins: readonly string[] | null;
}

const COLUMNS = keyTable.columns;

/** Returns the scopes of a key. */
export function scopesOf({ scopes }: Pick<ApiKeyRow, 'scopes'>): Scope[] {
  return scopes.split(' ') as Scope[];
}

/** Returns the networks from which a key can be used; null for all. */
export function networksOf({ allowed_networks }: Pick<ApiKeyRow, 'allowed_networks'>): string[] | null {
  return allowed_networks?.split(' ') ?? null;
}

/** Returns the negotiated limits of a key; null when those of its plan apply. */
export function quotasOf({ per_minute, per_day }: Pick<ApiKeyRow, 'per_minute' | 'per_day'>): Limits | null {
  return per_minute === null || per_day === null ? null : { perMinute: per_minute, perDay: per_day };
}

export interface ApiKeyTerms {
  name: string;
  kind: KeyKind;
  plan: Plan;
  scopes: readonly Scope[];
  quotas: Limits | null;
  /** Milliseconds since the Unix epoch. */
  expiresAt: number | null;
  /** Of a publishable key; null for others. */
  origins: readonly string[] | null;
  /** Null for all networks. */
  allowedNetworks: readonly string[] | null;
}

function valuesOf(terms: ApiKeyTerms): Value[] {
  const { name, kind, plan, scopes, quotas, expiresAt, allowedNetworks } = terms;
  return settingsTable.valuesOf({
    name,
    kind,
    plan,
    scopes: scopes.join(' '),
    allowed_networks: allowedNetworks?.join(' ') ?? null,
    per_minute: quotas?.perMinute ?? null,
    per_day: quotas?.perDay ?? null,
    expires_at: expiresAt,
  });
}

export async function insertApiKey(
  db: Statements,
  hash: Uint8Array,
  terms: ApiKeyTerms,
  now: number,
): Promise<StoredApiKey> {
  const row = await one<ApiKeyRow>(
    db,
    `INSERT INTO api_keys (hash, created_at, limits_resets, expiry_warning_at, ${settingsTable.written.join(', ')})
     VALUES (?, ?, ?, ?, ${settingsTable.parameters}) RETURNING ${COLUMNS}`,
    [hash, now, now, nextExpiryWarning(terms.expiresAt, now), ...valuesOf(terms)],
  );
  if (terms.origins) await insertOrigins(db, row.id, terms.origins);
  return withOrigins(db, row);
}

/**
 * Replaces the settings of a key, which is warned again if it expires at another time. Otherwise its next warning stays as it is in the
 * row: a replica may have given one since the transaction read the key.
 */
export async function updateApiKey(
  db: Statements,
  keyId: number,
  terms: ApiKeyTerms,
  now: number,
): Promise<StoredApiKey> {
  const row = await one<ApiKeyRow>(
    db,
    `UPDATE api_keys SET ${settingsTable.assignments},
       expiry_warning_at = CASE WHEN expires_at IS NOT DISTINCT FROM ? THEN expiry_warning_at ELSE ? END
     WHERE id = ? RETURNING ${COLUMNS}`,
    [...valuesOf(terms), terms.expiresAt, nextExpiryWarning(terms.expiresAt, now), keyId],
  );
  if (terms.origins) await replaceOrigins(db, keyId, terms.origins);
  return withOrigins(db, row);
}

export async function selectApiKey(db: Queries, keyId: number): Promise<StoredApiKey | undefined> {
  const row = await db.get<ApiKeyRow>(`SELECT ${COLUMNS} FROM api_keys WHERE id = ?`, [keyId]);
  return row && withOrigins(db, row);
}

async function withOrigins<Row extends ApiKeyRow>(db: Queries, row: Row): Promise<Row & StoredApiKey> {
  const origins = await selectOrigins(db, [row]);
  return { ...row, origins: origins.get(row.id) ?? null };
}

/** Reads 1 to 100 keys. */
export function selectApiKeysOf(db: Queries, keyIds: readonly number[]): Promise<ApiKeyRow[]> {
  const [condition, ids] = isOneOf('id', keyIds);
  return db.all(`SELECT ${COLUMNS} FROM api_keys WHERE ${condition}`, ids);
}

/** Returns the names of up to 100 keys by their IDs, also of those that were revoked. */
export async function selectNames(db: Queries, keyIds: readonly number[]): Promise<Map<number, string>> {
  if (keyIds.length === 0) return new Map();
  const rows = await selectApiKeysOf(db, keyIds);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Locks all keys until the transaction ends, because the check for the last administrator reads other keys as well. */
export function lockApiKeys(tx: Transaction): Promise<void> {
  return tx.lock('api keys');
}

/** Reads a key for a change, and locks all keys. */
export async function selectApiKeyToChange(
  tx: Transaction,
  keyId: number,
): Promise<StoredApiKey | undefined> {
  const [, row] = await Promise.all([lockApiKeys(tx), selectApiKey(tx, keyId)]);
  return row;
}

export interface KeyBySecretRow extends StoredApiKey {
  /** When an earlier secret expires; null for the current one. */
  secret_expires_at: number | null;
}

/** Reads the key of a secret, either its current secret or an earlier one. */
export async function selectApiKeyByHash(db: Queries, hash: Uint8Array): Promise<KeyBySecretRow | undefined> {
  const row = await db.get<Omit<KeyBySecretRow, 'origins'>>(
    `SELECT ${COLUMNS}, NULL AS secret_expires_at FROM api_keys WHERE hash = ?
     UNION ALL
     SELECT ${COLUMNS}, (SELECT p.expires_at FROM previous_secrets p WHERE p.hash = ?) FROM api_keys
     WHERE id = (SELECT p.api_key_id FROM previous_secrets p WHERE p.hash = ?)`,
    [hash, hash, hash],
  );
  return row && withOrigins(db, row);
}

/** Replaces a key's secret with `hash`. All earlier secrets expire at `earlierExpireAt`, or sooner if they already do. */
export async function replaceSecret(
  db: Statements,
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

/** Deletes at most `limit` secrets that expired before `instant`. Resolves with the number of deleted secrets. */
export function deleteSecretsExpiredBefore(db: Statements, instant: number, limit: number): Promise<number> {
  return deleteSlice(db, 'previous_secrets', 'hash', 'expires_at < ?', [instant, limit]);
}

/** Whether there is an administrator's key, or was one that was revoked. The first key of a store is usually one. */
export async function anyAdministratorKey(db: Queries): Promise<boolean> {
  return (await db.get("SELECT 1 FROM api_keys WHERE scopes LIKE '%admin%' LIMIT 1")) !== undefined;
}

export function revokeApiKey(db: Statements, keyId: number, now: number): Promise<number> {
  return db.run('UPDATE api_keys SET revoked_at = ? WHERE id = ?', [now, keyId]);
}

export function liftBans(db: Statements, keyId: number, now: number): Promise<number> {
  return db.run('UPDATE api_keys SET bans_lifted_at = ? WHERE id = ?', [now, keyId]);
}

/** Resets the limits of a key: earlier requests no longer count, also those after a reset that the database has lost. */
export function resetLimits(db: Statements, keyId: number, now: number): Promise<number> {
  return db.run(
    'UPDATE api_keys SET limits_resets = CASE WHEN limits_resets < ? THEN ? ELSE limits_resets + 1 END WHERE id = ?',
    [now, now, keyId],
  );
}

/** Reads the keys with the scope `admin` that were not revoked. The condition must match that of an index literally. */
export function selectAdministratorKeys(db: Queries): Promise<ApiKeyRow[]> {
  return db.all(
    `SELECT ${COLUMNS} FROM api_keys WHERE revoked_at IS NULL AND ' ' || scopes || ' ' LIKE '% admin %'`,
  );
}

export const keyList = defineList(keyTable, {
  filters: {
    name: startsWith('name', {
      ...nameText,
      example: 'web',
      description: 'Keys whose name starts with this text, without regard to case.',
    }),
    plan: is('plan', { type: 'string', enum: plans, description: 'Keys of this plan.' }),
    revoked: is(boolean('revoked'), {
      type: 'boolean',
      description: 'Keys that are revoked (`true`) or not (`false`).',
    }),
  },
  sorts: { id: ['id'], name: ['name', 'id'] },
  defaultSort: 'id',
});

export type ApiKeyQuery = QueryOf<typeof keyList>;
