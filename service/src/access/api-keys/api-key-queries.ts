import type { Scope } from '../../contract/scopes.ts';
import type { Queries } from '../../db/database.ts';
import { type Listing, type Sorts, selectPage } from '../../db/select-page.ts';
import type { Page } from '../../kit/paging.ts';
import type { Limits, Plan } from '../plans/plan.ts';

export interface ApiKeyRow {
  id: number;
  name: string;
  plan: Plan;
  scopes: string;
  per_minute: number | null;
  per_day: number | null;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
}

const COLUMNS = 'id, name, plan, scopes, per_minute, per_day, created_at, expires_at, revoked_at';

export interface ApiKeyTerms {
  name: string;
  plan: Plan;
  scopes: readonly Scope[];
  quotas: Limits | null;
  /** Milliseconds since the Unix epoch. */
  expiresAt: number | null;
}

export function insertApiKey(
  db: Queries,
  hash: Uint8Array,
  { name, plan, scopes, quotas, expiresAt }: ApiKeyTerms,
  now: number,
): Promise<ApiKeyRow> {
  return db.get(
    `INSERT INTO api_keys (hash, name, plan, scopes, per_minute, per_day, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${COLUMNS}`,
    [hash, name, plan, scopes.join(' '), quotas?.perMinute ?? null, quotas?.perDay ?? null, now, expiresAt],
  ) as Promise<ApiKeyRow>;
}

export function selectApiKey(db: Queries, keyId: number): Promise<ApiKeyRow | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM api_keys WHERE id = ?`, [keyId]);
}

export function selectApiKeyByHash(db: Queries, hash: Uint8Array): Promise<ApiKeyRow | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM api_keys WHERE hash = ?`, [hash]);
}

export async function anyApiKey(db: Queries): Promise<boolean> {
  return (await db.get('SELECT 1 FROM api_keys LIMIT 1')) !== undefined;
}

/** Revokes a key; one revoked before keeps its date. */
export function revokeApiKey(db: Queries, keyId: number, now: number): Promise<number> {
  return db.run('UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?', [now, keyId]);
}

const sorts = {
  id: { columns: ['id'], keyOf: ({ id }: ApiKeyRow) => [id], types: ['number'] },
} as const satisfies Sorts<ApiKeyRow>;

export type ApiKeySort = keyof typeof sorts;

export function selectApiKeys(db: Queries, listing: Listing<ApiKeySort>): Promise<Page<ApiKeyRow>> {
  return selectPage(db, `SELECT ${COLUMNS} FROM api_keys`, [], sorts, listing);
}
