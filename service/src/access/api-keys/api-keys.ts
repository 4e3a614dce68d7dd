import { ApiError } from '../../contract/errors.ts';
import type { Scope } from '../../contract/scopes.ts';
import type { Queries, Writer } from '../../db/database.ts';
import type { Listing } from '../../db/select-page.ts';
import { formatDateTime, parseDateTime } from '../../kit/dates.ts';
import { mapPage, type Page } from '../../kit/paging.ts';
import { type ApiKey, type NewApiKey, refuseMismatchedQuotas } from './api-key.ts';
import {
  type ApiKeyRow,
  type ApiKeySort,
  anyApiKey,
  insertApiKey,
  revokeApiKey,
  selectApiKey,
  selectApiKeys,
} from './api-key-queries.ts';
import { hashOf, newSecret } from './secret.ts';

export async function list(db: Queries, listing: Listing<ApiKeySort>): Promise<Page<ApiKey>> {
  return mapPage(await selectApiKeys(db, listing), toApiKey);
}

export async function read(db: Queries, keyId: number): Promise<ApiKey> {
  const row = await selectApiKey(db, keyId);
  if (!row) throw apiKeyNotFound(keyId);
  return toApiKey(row);
}

/** Creates a key; the answer is the only place where its secret is ever shown. */
export async function create(db: Writer, key: NewApiKey, now: number): Promise<ApiKey & { key: string }> {
  refuseMismatchedQuotas(key.plan, key.quotas);
  const expiresAt = key.expiresAt === undefined ? null : parseDateTime(key.expiresAt)!;
  if (expiresAt !== null && expiresAt <= now) {
    throw new ApiError('invalid_request', `\`expiresAt\` must lie in the future, but was "${key.expiresAt}"`);
  }
  const secret = newSecret();
  const { name, plan, scopes, quotas = null } = key;
  const row = await db.write(tx =>
    insertApiKey(tx, hashOf(secret), { name, plan, scopes, quotas, expiresAt }, now),
  );
  return { ...toApiKey(row), key: secret };
}

export function revoke(
  db: Writer,
  keyId: number,
  guard: (current: ApiKey) => void,
  now: number,
): Promise<void> {
  return db.write(async tx => {
    guard(await read(tx, keyId));
    await revokeApiKey(tx, keyId, now);
  });
}

/**
 * Makes the first administrator's key when the store has no key at all. `keep` is handed the secret before the key is
 * committed: a crash in between leaves a kept secret without a key, never a key that nobody knows.
 */
export function createFirst(db: Writer, keep: (secret: string) => void, now: number): Promise<boolean> {
  return db.write(async tx => {
    if (await anyApiKey(tx)) return false;
    const { key } = await create(tx, administrator, now);
    keep(key);
    return true;
  });
}

const administrator: NewApiKey = {
  name: 'Administrator',
  plan: 'enterprise',
  scopes: ['admin'],
  quotas: { perMinute: 1_000_000, perDay: 1_000_000_000 },
};

function apiKeyNotFound(keyId: number): ApiError {
  return new ApiError('api_key_not_found', `There is no API key ${keyId}`);
}

function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    scopes: row.scopes.split(' ') as Scope[],
    quotas: row.per_minute === null ? null : { perMinute: row.per_minute, perDay: row.per_day! },
    createdAt: formatDateTime(row.created_at),
    expiresAt: row.expires_at === null ? null : formatDateTime(row.expires_at),
    revokedAt: row.revoked_at === null ? null : formatDateTime(row.revoked_at),
  };
}
