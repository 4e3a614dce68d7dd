import type { Queries, Statements } from '../../db/database.ts';
import { isOneOf } from '../../db/select-page.ts';

/** Returns those of 1 to 100 hashes that belong to a secret of a key, also an earlier or ended one. */
export async function selectKnownHashes(db: Queries, hashes: readonly Uint8Array[]): Promise<Uint8Array[]> {
  const [condition, values] = isOneOf('hash', hashes);
  const rows = await db.all<{ hash: Uint8Array }>(
    `SELECT hash FROM api_keys WHERE ${condition} UNION ALL SELECT hash FROM previous_secrets WHERE ${condition}`,
    [...values, ...values],
  );
  return rows.map(({ hash }) => hash);
}

/** Ends an earlier secret. */
export function expireSecret(db: Statements, hash: Uint8Array, now: number): Promise<number> {
  return db.run('UPDATE previous_secrets SET expires_at = ? WHERE hash = ?', [now, hash]);
}

/** Stores when the event of a reported secret of a key was appended. */
export function updateLeakReported(db: Statements, keyId: number, now: number): Promise<number> {
  return db.run('UPDATE api_keys SET leak_reported_at = ? WHERE id = ?', [now, keyId]);
}
