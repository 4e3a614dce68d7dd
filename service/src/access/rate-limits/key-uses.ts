import { withoutSecrets } from '../../contract/secret-forms.ts';
import type { Queries, Writer } from '../../db/database.ts';
import { shownAddress } from '../../kit/client-address.ts';
import { MINUTE } from '../../kit/clock.ts';
import { type KeyUse, updateLastClients } from './limit-queries.ts';

/** Keys whose uses are written in one transaction. */
const FLUSHED_AT_ONCE = 200;

/** The number of keys that are remembered: it bounds memory. */
const MOST_KEYS = 100_000;

/** The maximum number of characters of a User-Agent that are stored. */
export const CLIENT_LENGTH = 200;

/** The address and the client of the first request of each key in a minute, until they are stored. */
export class KeyUses {
  readonly #minutes = new Map<number, number>();
  readonly #unstored = new Map<number, KeyUse>();

  /** Whether a request of a key at `now` is the first in its minute: `add` must follow. */
  isFirst(keyId: number, now: number): boolean {
    return this.#minutes.get(keyId) !== Math.floor(now / MINUTE);
  }

  add(keyId: number, now: number, address: string, userAgent: string | undefined): void {
    if (this.#minutes.size >= MOST_KEYS) this.#minutes.clear();
    const minute = Math.floor(now / MINUTE);
    this.#minutes.set(keyId, minute);
    const client = userAgent === undefined ? null : shownClient(userAgent);
    this.#unstored.set(keyId, { minute: minute * MINUTE, address: shownAddress(address), client });
  }

  /**
   * Stores what was added, in transactions of a few hundred keys. One replica stores at a time: they would otherwise lock the same rows in
   * different orders. What a failed transaction contains stays for the next call.
   */
  async flush(db: Writer & Queries): Promise<void> {
    for (let left = this.#unstored.size; left > 0; left -= FLUSHED_AT_ONCE) {
      const uses = [...this.#unstored.entries().take(FLUSHED_AT_ONCE)];
      await db.write(async tx => {
        await tx.lock('key limits');
        await updateLastClients(tx, uses);
      });
      for (const [keyId, use] of uses) if (this.#unstored.get(keyId) === use) this.#unstored.delete(keyId);
    }
  }
}

function shownClient(userAgent: string): string {
  return withoutSecrets(userAgent.slice(0, CLIENT_LENGTH).replace(/[^ -~]/g, '?'));
}
