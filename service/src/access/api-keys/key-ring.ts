import type { BanRules } from '../../counters/decide.ts';
import type { Notifier, Queries } from '../../db/database.ts';
import { SECOND } from '../../kit/clock.ts';
import type { Caller } from '../../routes/context.ts';
import type { LimitedKey } from '../rate-limits/key-limits.ts';
import { limitsOf } from './api-key.ts';
import { type ApiKeyRow, quotasOf, scopesOf, selectApiKeyByHash } from './api-key-queries.ts';
import { hashOf, isWellFormed } from './secret.ts';

/** A client with a valid key, with what the limits of the key follow from. */
export interface LimitedCaller extends Caller, LimitedKey {}

interface Entry {
  caller: LimitedCaller;
  /** Milliseconds since the Unix epoch; infinite when the key does not expire. */
  expiresAt: number;
  readAt: number;
}

interface Reading {
  begunAt: number;
  entry: Promise<Entry | undefined>;
}

/** What transactions notify that change a key. */
export const KEYS_CHANGED = 'api keys changed';

/** How long a key is taken from memory, in milliseconds: a change made elsewhere takes effect within this time. */
export const FRESH_FOR = SECOND;

/** More keys than this at once and the ring starts anew: it bounds memory, some 300 bytes a key. */
const MAX_ENTRIES = 100_000;

/**
 * The keys in use, so that a request seldom costs a read. Only keys that exist enter it. It is looked up by the text of
 * the key, which it holds in memory only: hashing each request's key would cost more than all else the gate does.
 */
export class KeyRing {
  readonly #db: Queries;
  readonly #banRules: BanRules;
  readonly #entries = new Map<string, Entry>();
  /** The reads on their way, which the requests that come meanwhile share. */
  readonly #readings = new Map<string, Reading>();

  constructor(db: Queries & Notifier, banRules: BanRules) {
    this.#db = db;
    this.#banRules = banRules;
    db.onNotice(KEYS_CHANGED, () => this.#clear());
  }

  /** The caller whose secret this is; `undefined` when the key is mistyped, unknown, expired or revoked. */
  find(secret: string, now: number): LimitedCaller | undefined | Promise<LimitedCaller | undefined> {
    const entry = this.#entries.get(secret);
    if (entry && isFresh(entry.readAt, now)) {
      return now < entry.expiresAt ? entry.caller : undefined;
    }
    return isWellFormed(secret) ? this.#read(secret, now) : undefined;
  }

  /** The caller that a secret had when it was last read, however long ago: for what is told while nothing can be read. */
  lastKnown(secret: string): LimitedCaller | undefined {
    return this.#entries.get(secret)?.caller;
  }

  async #read(secret: string, now: number): Promise<LimitedCaller | undefined> {
    let reading = this.#readings.get(secret);
    if (!reading || !isFresh(reading.begunAt, now)) {
      reading = { begunAt: now, entry: this.#readEntry(secret, now) };
      this.#readings.set(secret, reading);
    }
    try {
      const entry = await reading.entry;
      // What was begun before a change is nothing to go by for those that come after it.
      if (this.#readings.get(secret) === reading) this.#remember(secret, entry);
      return entry && now < entry.expiresAt ? entry.caller : undefined;
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
    if (!row || row.revoked_at !== null) return undefined;
    const expiresAt = Math.min(
      row.expires_at ?? Number.POSITIVE_INFINITY,
      row.secret_expires_at ?? Number.POSITIVE_INFINITY,
    );
    return { caller: this.#toCaller(row), expiresAt, readAt: now };
  }

  /**
   * Forgets all that was read, because a key was changed here. It is called between the commit and the response to the change:
   * what was read before the commit goes, and what is being read is not remembered, because it may be from before.
   */
  #clear(): void {
    this.#entries.clear();
    this.#readings.clear();
  }

  #toCaller(row: ApiKeyRow): LimitedCaller {
    const limits = limitsOf(row.plan, quotasOf(row));
    return {
      keyId: row.id,
      scopes: new Set(scopesOf(row)),
      terms: {
        limits,
        resets: row.limits_resets,
        bansLiftedAt: row.bans_lifted_at ?? 0,
        banRules: this.#banRules,
      },
    };
  }
}

/** Whether what was read at `readAt` may still be taken; a clock that was set back says nothing of it. */
function isFresh(readAt: number, now: number): boolean {
  return now - readAt < FRESH_FOR && now >= readAt;
}
