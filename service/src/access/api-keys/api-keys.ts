import { isDeepStrictEqual } from 'node:util';
import { ApiError } from '../../contract/errors.ts';
import type { LimitState } from '../../counters/decide.ts';
import type { CountedKey } from '../../counters/key-states.ts';
import type { Queries, Statements, Transaction, Writer } from '../../db/database.ts';
import { selectPage } from '../../db/select-page.ts';
import { stopWebhooksOf } from '../../events/webhooks/webhooks.ts';
import { SECOND } from '../../kit/clock.ts';
import { formatDateTime } from '../../kit/dates.ts';
import { mapPage, type Page } from '../../kit/paging.ts';
import { expiryWarningsOf } from '../key-warnings/expiry-warnings.ts';
import { quotaWarningsOf } from '../key-warnings/quota-warnings.ts';
import type { KeyLimits } from '../rate-limits/key-limits.ts';
import type { KeyUsage } from '../rate-limits/key-usage.ts';
import { rejectLockout } from './administrators.ts';
import { type ApiKey, type ApiKeySettings, limitsOf, type NewApiKey, type Rotation } from './api-key.ts';
import {
  type ApiKeyQuery,
  type ApiKeyRow,
  deleteSecretsExpiredBefore,
  insertApiKey,
  keyList,
  liftBans,
  quotasOf,
  replaceSecret,
  resetLimits,
  revokeApiKey,
  type StoredApiKey,
  selectApiKey,
  selectApiKeyToChange,
  updateApiKey,
} from './api-key-queries.ts';
import { keyEvents } from './key-events.ts';
import { KEYS_CHANGED } from './key-ring.ts';
import { selectOrigins } from './origin-queries.ts';
import { hashOf, newSecret } from './secret.ts';
import { standingOf } from './standings.ts';
import { rejectPastExpiry, termsOf, toApiKey } from './stored-key.ts';

/** What operations that read keys need. `now` is in milliseconds since the Unix epoch. */
export interface KeyReading {
  db: Queries;
  keyLimits: KeyLimits;
  now: number;
}

/** What operations that change keys need. */
export interface KeyAccess extends KeyReading {
  db: Queries & Writer;
}

export async function list(access: KeyReading, query: ApiKeyQuery): Promise<Page<ApiKey>> {
  const page = await selectPage(access.db, keyList, query);
  const [states, origins] = await Promise.all([
    access.keyLimits.statesOf(page.items.map(counted)),
    selectOrigins(access.db, page.items),
  ]);
  return mapPage(page, row =>
    toApiKey({ ...row, origins: origins.get(row.id) ?? null }, states.get(row.id), access.now),
  );
}

export async function read(access: KeyReading, keyId: number): Promise<ApiKey> {
  const row = await findKey(access.db, keyId);
  return toApiKey(row, await access.keyLimits.stateOf(counted(row)), access.now);
}

/** Creates a key. Only this result ever contains its secret. */
export async function create(
  access: Pick<KeyAccess, 'db' | 'now'>,
  key: NewApiKey,
  reason?: string,
): Promise<ApiKey & { key: string }> {
  const { db, now } = access;
  const terms = termsOf({ ...key, kind: key.kind ?? 'secret' });
  if (terms.expiresAt !== null) rejectPastExpiry(terms.expiresAt, now);
  const secret = newSecret(terms.kind);
  const created = await db.write(async tx => {
    const key = toApiKey(await insertApiKey(tx, hashOf(secret), terms, now), undefined, now);
    keyEvents.append(tx, 'key.created', key.id, key, { reason });
    // Until now its origins may have been known as not allowed.
    if (terms.kind === 'publishable') tx.notify(KEYS_CHANGED);
    return key;
  });
  return { ...created, key: secret };
}

/** Replaces the settings of a key with the result of `settingsFor`; when that throws, nothing changes. */
export async function change(
  { db, keyLimits, now }: KeyAccess,
  keyId: number,
  settingsFor: (current: ApiKey) => ApiKeySettings,
): Promise<ApiKey> {
  const state = await keyLimits.stateOf(counted(await findKey(db, keyId)));
  return db.write(async tx =>
    replaceSettings(tx, await findKeyToChange(tx, keyId), settingsFor, { state, now }),
  );
}

/** The same in a transaction that has locked the key and also changes something else, with its state as this process last saw it. */
export function changeWithin(
  tx: Transaction,
  { keyLimits, now }: Pick<KeyAccess, 'keyLimits' | 'now'>,
  row: StoredApiKey,
  settingsFor: (current: ApiKey) => ApiKeySettings,
): Promise<ApiKey> {
  tx.notify(KEYS_CHANGED);
  return replaceSettings(tx, row, settingsFor, {
    state: keyLimits.seenStateOf(row.id),
    now,
  });
}

async function replaceSettings(
  tx: Transaction,
  row: StoredApiKey,
  settingsFor: (current: ApiKey) => ApiKeySettings,
  { state, now }: { state: Readonly<LimitState> | undefined; now: number },
): Promise<ApiKey> {
  const before = toApiKey(row, state, now);
  const settings = settingsFor(before);
  rejectRevoked(row);
  const terms = termsOf(settings);
  if (terms.expiresAt !== null && terms.expiresAt !== row.expires_at) rejectPastExpiry(terms.expiresAt, now);
  await rejectLockout(tx, row, terms, now);
  const updated = await updateApiKey(tx, row.id, terms, now);
  await stopWebhooksOf(tx, standingOf(updated, now), now);
  const changed = toApiKey(updated, state, now);
  if (!isDeepStrictEqual(before, changed)) keyEvents.append(tx, 'key.updated', row.id, changed, { before });
  return changed;
}

export async function revoke(
  { db, keyLimits, now }: KeyAccess,
  keyId: number,
  guard: (current: ApiKey) => void,
): Promise<void> {
  const state = await keyLimits.stateOf(counted(await findKey(db, keyId)));
  await db.write(async tx => {
    const row = await findKeyToChange(tx, keyId);
    guard(toApiKey(row, state, now));
    await rejectLockout(tx, row, undefined, now);
    if (row.revoked_at !== null) return;
    const revoked = { ...row, revoked_at: now };
    await revokeApiKey(tx, keyId, now);
    await stopWebhooksOf(tx, standingOf(revoked, now), now);
    const before = toApiKey(row, state, now);
    keyEvents.append(tx, 'key.revoked', keyId, toApiKey(revoked, state, now), { before });
  });
}

/** Revokes a key whose secret has leaked. Its webhooks stop by themselves, after their last event. */
export async function revokeLeaked(
  tx: Transaction,
  row: StoredApiKey,
  { keyLimits, now }: Pick<KeyAccess, 'keyLimits' | 'now'>,
  reason: string,
): Promise<void> {
  await revokeApiKey(tx, row.id, now);
  const state = keyLimits.seenStateOf(row.id);
  const before = toApiKey(row, state, now);
  const revoked = toApiKey({ ...row, revoked_at: now }, state, now);
  keyEvents.append(tx, 'key.revoked', row.id, revoked, { before, reason });
}

/** Gives a key a new secret. Earlier secrets work for `graceSeconds` more, unless they expire sooner. */
export function rotate(
  access: KeyAccess,
  keyId: number,
  { graceSeconds }: Rotation,
): Promise<ApiKey & { earlierKeysExpireAt: string; key: string }> {
  const earlierExpireAt = access.now + graceSeconds * SECOND;
  return access.db.write(async tx => {
    const row = await findKeyToChange(tx, keyId);
    rejectRevoked(row);
    const secret = newSecret(row.kind);
    await replaceSecret(tx, keyId, hashOf(secret), earlierExpireAt);
    const earlierKeysExpireAt = formatDateTime(Math.min(earlierExpireAt, row.expires_at ?? earlierExpireAt));
    // Does not wait for the counters, because the transaction may be that of an Idempotency-Key.
    const state = access.keyLimits.seenStateOf(keyId);
    const rotated = toApiKey(row, state, access.now);
    keyEvents.append(tx, 'key.rotated', keyId, rotated);
    return { ...rotated, earlierKeysExpireAt, key: secret };
  });
}

/**
 * Ends the ban of a key, if it has one, and clears its earlier bans. Resolves with whether the key was banned. The clock that
 * began the ban may be ahead of this one, so the lift covers at least the start of the ban.
 */
export async function liftBan({ db, keyLimits, now }: KeyAccess, keyId: number): Promise<boolean> {
  const state = await keyLimits.stateOf(counted(await findKey(db, keyId)));
  return db.write(async tx => {
    const row = await findKeyToChange(tx, keyId);
    await liftBans(tx, keyId, Math.max(now, state?.bannedAt ?? 0));
    const key = toApiKey(row, state, now);
    if (key.ban === null) return false;
    keyEvents.append(tx, 'key.unbanned', keyId, { ...key, ban: null }, { before: key });
    return true;
  });
}

/**
 * Resets the limits of a key in every process: its windows, strikes, ban, and number of bans. The usage by day remains.
 * Rejects with `api_key_not_found`.
 */
export async function reset({ db, keyLimits, now }: KeyAccess, keyId: number): Promise<void> {
  const before = await findKey(db, keyId);
  const state = await keyLimits.stateOf(counted(before));
  await db.write(async tx => {
    const row = await findKeyToChange(tx, keyId);
    await resetLimits(tx, keyId, now);
    const key = toApiKey(row, state, now);
    const unbanned = { ...key, ban: null };
    if (key.ban !== null) keyEvents.append(tx, 'key.unbanned', keyId, unbanned, { before: key });
    keyEvents.append(tx, 'key.limits_reset', keyId, unbanned, { before: unbanned });
  });
}

export async function usage({ db, keyLimits, now }: KeyReading, keyId: number): Promise<KeyUsage> {
  const row = await findKey(db, keyId);
  const [use, quota, expiry] = await Promise.all([
    keyLimits.usageOf(counted(row), limitsOf(row.plan, quotasOf(row)), now),
    quotaWarningsOf(db, keyId, now),
    expiryWarningsOf(db, row),
  ]);
  return { keyId, ...use, warnings: { quota, expiry } };
}

/** Secrets deleted in one transaction. */
const SWEPT_AT_ONCE = 500;

/** Deletes a slice of the expired secrets. Resolves with whether there may be more. */
export async function sweepSecrets(db: Statements, now: number): Promise<boolean> {
  return (await deleteSecretsExpiredBefore(db, now, SWEPT_AT_ONCE)) === SWEPT_AT_ONCE;
}

/** The identity of a key in the counters. */
function counted({ id, limits_resets }: ApiKeyRow): CountedKey {
  return { keyId: id, resets: limits_resets };
}

async function findKey(db: Queries, keyId: number): Promise<StoredApiKey> {
  return rejectUnknown(await selectApiKey(db, keyId), keyId);
}

/** Reads a key for a change, locks all keys, and clears the cache of keys after the transaction. */
async function findKeyToChange(tx: Transaction, keyId: number): Promise<StoredApiKey> {
  tx.notify(KEYS_CHANGED);
  return rejectUnknown(await selectApiKeyToChange(tx, keyId), keyId);
}

function rejectUnknown(row: StoredApiKey | undefined, keyId: number): StoredApiKey {
  if (!row) throw new ApiError('api_key_not_found', `There is no API key ${keyId}`);
  return row;
}

function rejectRevoked({ id, revoked_at }: ApiKeyRow): void {
  if (revoked_at === null) return;
  throw new ApiError(
    'api_key_revoked',
    `API key ${id} was revoked at ${formatDateTime(revoked_at)} and cannot be changed; create another`,
  );
}
