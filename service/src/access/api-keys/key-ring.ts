import type { Scope } from '../../contract/scopes.ts';
import type { BanRules } from '../../counters/decide.ts';
import type { Queries } from '../../db/database.ts';
import { SECOND } from '../../kit/clock.ts';
import type { LimitedKey } from '../rate-limits/key-limits.ts';
import { limitsOf } from './api-key.ts';
import { type ApiKeyRow, quotasOf, selectApiKeyByHash } from './api-key-queries.ts';
import { hashOf, isWellFormed } from './secret.ts';

/** A client with a valid key. */
export interface Caller extends LimitedKey {
  scopes: ReadonlySet<Scope>;
}

interface Entry {
  caller: Caller;
  /** Milliseconds since the Unix epoch; infinite when the key does not expire. */
  expiresAt: number;
  readAt: number;
}

/** How long a key is taken from memory, in milliseconds: a change made elsewhere takes effect within this time. */
const FRESH_FOR = SECOND;

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

  constructor(db: Queries, banRules: BanRules) {
    this.#db = db;
    this.#banRules = banRules;
  }

  /** The caller whose secret this is; `undefined` when the key is mistyped, unknown, expired or revoked. */
  find(secret: string, now: number): Caller | undefined | Promise<Caller | undefined> {
    const entry = this.#entries.get(secret);
    if (entry && now - entry.readAt < FRESH_FOR && now >= entry.readAt) {
      return now < entry.expiresAt ? entry.caller : undefined;
    }
    return isWellFormed(secret) ? this.#read(secret, now) : undefined;
  }

  /** Forgets all that was read, because a key was changed here: the next request reads it anew. */
  clear(): void {
    this.#entries.clear();
  }

  async #read(secret: string, now: number): Promise<Caller | undefined> {
    const row = await selectApiKeyByHash(this.#db, hashOf(secret));
    if (!row || row.revoked_at !== null) {
      this.#entries.delete(secret);
      return undefined;
    }
    if (this.#entries.size >= MAX_ENTRIES) this.#entries.clear();
    const expiresAt = Math.min(
      row.expires_at ?? Number.POSITIVE_INFINITY,
      row.secret_expires_at ?? Number.POSITIVE_INFINITY,
    );
    const caller = this.#toCaller(row);
    this.#entries.set(secret, { caller, expiresAt, readAt: now });
    return now < expiresAt ? caller : undefined;
  }

  #toCaller(row: ApiKeyRow): Caller {
    const limits = limitsOf(row.plan, quotasOf(row));
    return {
      keyId: row.id,
      scopes: new Set(row.scopes.split(' ') as Scope[]),
      terms: { limits, bansLiftedAt: row.bans_lifted_at ?? 0, banRules: this.#banRules },
    };
  }
}
