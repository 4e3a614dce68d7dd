import { ApiError } from '../../contract/errors.ts';
import type { Scope } from '../../contract/scopes.ts';
import type { Queries, Transaction, Writer } from '../../db/database.ts';
import type { Listing } from '../../db/select-page.ts';
import { SECOND } from '../../kit/clock.ts';
import { formatDateTime, parseDateTime } from '../../kit/dates.ts';
import { mapPage, type Page } from '../../kit/paging.ts';
import type { KeyLimits } from '../rate-limits/key-limits.ts';
import type { KeyUsage } from '../rate-limits/key-usage.ts';
import type { Account } from './account.ts';
import { refuseToLockOut } from './administrators.ts';
import {
  type ApiKey,
  type ApiKeySettings,
  limitsOf,
  type NewApiKey,
  type Rotation,
  refuseMismatchedQuotas,
} from './api-key.ts';
import {
  type ApiKeyRow,
  type ApiKeySort,
  type ApiKeyTerms,
  anyApiKey,
  deleteSecretsExpiredBefore,
  insertApiKey,
  liftBans,
  lockApiKeys,
  quotasOf,
  replaceSecret,
  revokeApiKey,
  selectApiKey,
  selectApiKeys,
  selectApiKeyToChange,
  updateApiKey,
} from './api-key-queries.ts';
import { hashOf, newSecret } from './secret.ts';

/** What is needed to work on keys: where they are, what their limits say, and when it is (milliseconds since the epoch). */
export interface KeyAccess {
  db: Queries & Writer;
  keyLimits: KeyLimits;
  now: number;
}

export async function list(access: KeyAccess, listing: Listing<ApiKeySort>): Promise<Page<ApiKey>> {
  return mapPage(await selectApiKeys(access.db, listing), row => toApiKey(row, access));
}

export async function read(access: KeyAccess, keyId: number): Promise<ApiKey> {
  return toApiKey(await found(access.db, keyId), access);
}

/** Creates a key; the answer is the only place where its secret is ever shown. */
export async function create(access: KeyAccess, key: NewApiKey): Promise<ApiKey & { key: string }> {
  const { db, now } = access;
  const terms = termsOf(key);
  if (terms.expiresAt !== null) refusePast(terms.expiresAt, now);
  const secret = newSecret();
  const row = await db.write(tx => insertApiKey(tx, hashOf(secret), terms, now));
  return { ...toApiKey(row, access), key: secret };
}

/** Gives a key the settings that `settingsFor` makes of it; when that throws, nothing changes. */
export function change(
  access: KeyAccess,
  keyId: number,
  settingsFor: (current: ApiKey) => ApiKeySettings,
): Promise<ApiKey> {
  return access.db.write(async tx => {
    const row = await foundToChange(tx, keyId);
    const settings = settingsFor(toApiKey(row, access));
    refuseRevoked(row);
    const terms = termsOf(settings);
    if (terms.expiresAt !== null && terms.expiresAt !== row.expires_at)
      refusePast(terms.expiresAt, access.now);
    await refuseToLockOut(tx, row, terms, access.now);
    return toApiKey(await updateApiKey(tx, keyId, terms), access);
  });
}

export function revoke(access: KeyAccess, keyId: number, guard: (current: ApiKey) => void): Promise<void> {
  return access.db.write(async tx => {
    const row = await foundToChange(tx, keyId);
    guard(toApiKey(row, access));
    await refuseToLockOut(tx, row, undefined, access.now);
    await revokeApiKey(tx, keyId, access.now);
  });
}

/** Gives a key a new secret. Its earlier ones go on working for the grace, unless they end sooner anyway. */
export function rotate(
  access: KeyAccess,
  keyId: number,
  { graceSeconds }: Rotation,
): Promise<ApiKey & { earlierKeysExpireAt: string; key: string }> {
  const secret = newSecret();
  const earlierExpireAt = access.now + graceSeconds * SECOND;
  return access.db.write(async tx => {
    const row = await foundToChange(tx, keyId);
    refuseRevoked(row);
    await replaceSecret(tx, keyId, hashOf(secret), earlierExpireAt);
    const earlierKeysExpireAt = formatDateTime(Math.min(earlierExpireAt, row.expires_at ?? earlierExpireAt));
    return { ...toApiKey(row, access), earlierKeysExpireAt, key: secret };
  });
}

/** Ends the ban of a key, if it has one, and forgives those before it. Answers whether there was one. */
export function liftBan(access: KeyAccess, keyId: number): Promise<boolean> {
  return access.db.write(async tx => {
    const { ban } = toApiKey(await foundToChange(tx, keyId), access);
    await liftBans(tx, keyId, access.now);
    return ban !== null;
  });
}

export async function usage({ db, keyLimits, now }: KeyAccess, keyId: number): Promise<KeyUsage> {
  const row = await found(db, keyId);
  return { keyId, ...(await keyLimits.usageOf(keyId, limitsOf(row.plan, quotasOf(row)), now)) };
}

/** The key and its use, as its holder sees it. */
export async function account(access: KeyAccess, keyId: number): Promise<Account> {
  const { name, plan, scopes, expiresAt, ban } = await read(access, keyId);
  const { windows, days } = await usage(access, keyId);
  return { keyId, name, plan, scopes, expiresAt, ban, windows, days };
}

/**
 * Makes the first administrator's key when the store has no key at all. `keep` is handed the secret before the key is
 * committed: a crash in between leaves a kept secret without a key, never a key that nobody knows.
 */
export function createFirst(access: KeyAccess, keep: (secret: string) => void): Promise<boolean> {
  return access.db.write(async tx => {
    const [, anyKey] = await Promise.all([lockApiKeys(tx), anyApiKey(tx)]);
    if (anyKey) return false;
    const { key } = await create({ ...access, db: tx }, administrator);
    keep(key);
    return true;
  });
}

/** Forgets the secrets whose grace is over. */
export async function sweepSecrets(db: Queries, now: number): Promise<void> {
  await deleteSecretsExpiredBefore(db, now);
}

const administrator: NewApiKey = {
  name: 'Administrator',
  plan: 'enterprise',
  scopes: ['admin'],
  quotas: { perMinute: 1_000_000, perDay: 1_000_000_000 },
};

async function found(db: Queries, keyId: number): Promise<ApiKeyRow> {
  return refuseUnknown(await selectApiKey(db, keyId), keyId);
}

async function foundToChange(tx: Transaction, keyId: number): Promise<ApiKeyRow> {
  return refuseUnknown(await selectApiKeyToChange(tx, keyId), keyId);
}

function refuseUnknown(row: ApiKeyRow | undefined, keyId: number): ApiKeyRow {
  if (!row) throw new ApiError('api_key_not_found', `There is no API key ${keyId}`);
  return row;
}

/** What is kept of a key's settings. Throws `invalid_request` when plan and quotas do not go together. */
function termsOf({ name, plan, scopes, quotas, expiresAt }: ApiKeySettings): ApiKeyTerms {
  refuseMismatchedQuotas(plan, quotas);
  return {
    name,
    plan,
    scopes,
    quotas: quotas ?? null,
    expiresAt: expiresAt === undefined ? null : parseDateTime(expiresAt)!,
  };
}

function refusePast(expiresAt: number, now: number): void {
  if (expiresAt > now) return;
  throw new ApiError(
    'invalid_request',
    `\`expiresAt\` must lie in the future, but was ${formatDateTime(expiresAt)}; to end a key now, revoke it`,
  );
}

function refuseRevoked({ id, revoked_at }: ApiKeyRow): void {
  if (revoked_at === null) return;
  throw new ApiError(
    'api_key_revoked',
    `API key ${id} was revoked at ${formatDateTime(revoked_at)} and stays so; create another`,
  );
}

function toApiKey(row: ApiKeyRow, { keyLimits, now }: Omit<KeyAccess, 'db'>): ApiKey {
  const lastUsedAt = Math.max(row.last_used_at ?? 0, keyLimits.lastUsedAt(row.id));
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    scopes: row.scopes.split(' ') as Scope[],
    quotas: quotasOf(row),
    createdAt: formatDateTime(row.created_at),
    expiresAt: row.expires_at === null ? null : formatDateTime(row.expires_at),
    revokedAt: row.revoked_at === null ? null : formatDateTime(row.revoked_at),
    lastUsedAt: lastUsedAt === 0 ? null : formatDateTime(lastUsedAt),
    ban: keyLimits.banOf(row.id, row.bans_lifted_at ?? 0, now),
  };
}
