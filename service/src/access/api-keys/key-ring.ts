import type { BanRules } from '../../counters/decide.ts';
import type { Notifier, Queries } from '../../db/database.ts';
import { AddressRanges } from '../../kit/client-address.ts';
import { SECOND } from '../../kit/clock.ts';
import type { Caller } from '../../routes/context.ts';
import type { LimitedKey } from '../rate-limits/key-limits.ts';
import { limitsOf } from './api-key.ts';
import { networksOf, quotasOf, type StoredApiKey, scopesOf, selectApiKeyByHash } from './api-key-queries.ts';
import { hashOf, isWellFormed } from './secret.ts';

/** A client with a valid key, with the terms of the key's limits. */
export interface LimitedCaller extends Caller, LimitedKey {}

interface Entry {
  caller: LimitedCaller;
  /** Milliseconds since the Unix epoch; infinite when the key does not expire. */
  expiresAt: number;
  /** When the key was revoked, in milliseconds since the Unix epoch; `null` if it was not. */
  revokedAt: number | null;
  readAt: number;
}

/** Why and when a key ended, in milliseconds since the Unix epoch. */
export interface KeyEnd {
  reason: 'expired' | 'revoked';
  at: number;
}

interface Reading {
  startedAt: number;
  entry: Promise<Entry | undefined>;
}

/** The topic that transactions notify when they change a key. */
export const KEYS_CHANGED = 'api keys changed';

/** How long a key is cached, in milliseconds: a change by another process takes effect within this time. */
export const FRESH_FOR = SECOND;

/** The number of keys at which the cache is cleared, to bound memory: a key takes about 300 bytes. */
const MAX_ENTRIES = 100_000;

/**
 * A cache of the keys in use, so that few requests need a read. It contains only existing keys. A key is looked up by its
 * secret, which stays in memory: hashing the key of each request would cost more than the rest of the gate.
 */
export class KeyRing {
  readonly #db: Queries;
  readonly #banRules: BanRules;
  readonly #entries = new Map<string, Entry>();
  /** The reads in progress, which concurrent requests share. */
  readonly #readings = new Map<string, Reading>();

  constructor(db: Queries & Notifier, banRules: BanRules) {
    this.#db = db;
    this.#banRules = banRules;
    db.onNotice(KEYS_CHANGED, () => this.#clear());
  }

  /** Returns the caller with this secret; `undefined` when the key is mistyped, unknown, expired or revoked. */
  find(secret: string, now: number): LimitedCaller | undefined | Promise<LimitedCaller | undefined> {
    const entry = this.#entries.get(secret);
    if (entry && isFresh(entry.readAt, now)) {
      return endOf(entry, now) ? undefined : entry.caller;
    }
    return isWellFormed(secret) ? this.#read(secret, now) : undefined;
  }

  /** The same as the store has it now: the cache may not have a change by another process yet. */
  findStored(secret: string, now: number): Promise<LimitedCaller | undefined> {
    // A read in progress may have started before the change.
    this.#readings.delete(secret);
    return this.#read(secret, now);
  }

  /** How the key of this secret ended, if `find` has just read that it did. Only a client that has the secret can learn it. */
  endOf(secret: string, now: number): KeyEnd | undefined {
    const entry = this.#entries.get(secret);
    return entry && endOf(entry, now);
  }

  /** The networks of the key of this secret, also if it has ended, if `find` has just read it; null for all. */
  networksOf(secret: string): AddressRanges | null {
    return this.#entries.get(secret)?.caller.networks ?? null;
  }

  /** Returns the caller of a secret from the cache, however old, for use while the store is unavailable. */
  lastKnown(secret: string): LimitedCaller | undefined {
    const entry = this.#entries.get(secret);
    return entry?.revokedAt === null ? entry.caller : undefined;
  }

  async #read(secret: string, now: number): Promise<LimitedCaller | undefined> {
    let reading = this.#readings.get(secret);
    if (!reading || !isFresh(reading.startedAt, now)) {
      reading = { startedAt: now, entry: this.#readEntry(secret, now) };
      this.#readings.set(secret, reading);
    }
    try {
      const entry = await reading.entry;
      // A read that started before a change of a key must not serve later requests.
      if (this.#readings.get(secret) === reading) this.#remember(secret, entry);
      return entry && !endOf(entry, now) ? entry.caller : undefined;
    } finally {
      if (this.#readings.get(secret) === reading) this.#readings.delete(secret);
    }
  }

  #remember(secret: string, entry: Entry | undefined): void {
    if (!entry) {
      this.#entries.delete(secret);
      return;
    }
    if (this.#entries.size >= MAX_ENTRIES) this.#entries.clear();
    this.#entries.set(secret, entry);
  }

  async #readEntry(secret: string, now: number): Promise<Entry | undefined> {
    const row = await selectApiKeyByHash(this.#db, hashOf(secret));
    if (!row) return undefined;
    const expiresAt = Math.min(
      row.expires_at ?? Number.POSITIVE_INFINITY,
      row.secret_expires_at ?? Number.POSITIVE_INFINITY,
    );
    return { caller: this.#toCaller(row), expiresAt, revokedAt: row.revoked_at, readAt: now };
  }

  /**
   * Clears the cache because this process changed a key. Called between the commit and the response. Reads in progress are
   * not cached either, because they may be from before the commit.
   */
  #clear(): void {
    this.#entries.clear();
    this.#readings.clear();
  }

  #toCaller(row: StoredApiKey): LimitedCaller {
    const limits = limitsOf(row.plan, quotasOf(row));
    const networks = networksOf(row);
    return {
      keyId: row.id,
      kind: row.kind,
      scopes: new Set(scopesOf(row)),
      origins: row.origins,
      networks: networks && new AddressRanges(networks),
      terms: {
        limits,
        resets: row.limits_resets,
        bansLiftedAt: row.bans_lifted_at ?? 0,
        banRules: this.#banRules,
      },
    };
  }
}

function endOf({ expiresAt, revokedAt }: Entry, now: number): KeyEnd | undefined {
  if (revokedAt !== null) return { reason: 'revoked', at: revokedAt };
  return expiresAt <= now ? { reason: 'expired', at: expiresAt } : undefined;
}

/** Whether a result from `readAt` can still be used; not after the clock was set back. */
export function isFresh(readAt: number, now: number): boolean {
  return now - readAt < FRESH_FOR && now >= readAt;
}
