import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Queries, Transaction, Writer } from '../../db/database.ts';
import { sendToWebhooksOf } from '../../events/webhooks/webhooks.ts';
import { DAY, latestCredible } from '../../kit/clock.ts';
import { Slices } from '../../kit/slices.ts';
import { type KeyBySecretRow, lockApiKeys, selectApiKeyByHash } from '../api-keys/api-key-queries.ts';
import { revokeLeaked } from '../api-keys/api-keys.ts';
import { KEYS_CHANGED } from '../api-keys/key-ring.ts';
import { hashOf, isSecretKey } from '../api-keys/secret.ts';
import type { KeyLimits } from '../rate-limits/key-limits.ts';
import { keyLeakEvents, type LeakOutcome, type LeakReceipt } from './leak.ts';
import { expireSecret, selectKnownHashes, updateLeakReported } from './leak-queries.ts';

/** How long a slice of a report blocks the event loop, in milliseconds. */
const SLICE = 5;

/** The secrets that one statement looks up: a page of reads, as for lists. */
const AT_ONCE = 100;

/** How often a key has an event while the service only reports, in milliseconds: the same secret may be found many times. */
const REPORTED_EVERY = DAY;

/** The circumstances of a report. */
export interface Reporting {
  keyLimits: KeyLimits;
  /** Milliseconds since the Unix epoch. */
  now: number;
  /** The address of the client that reports; null if it disconnected at once. */
  address: string | null;
  /** Where it found the secrets. */
  foundIn: string | null;
  /** Whether leaked keys are only reported. */
  onlyReports: boolean;
  /** The source of events. */
  source: string;
}

/**
 * Ends these secrets: revokes their keys, or ends only the secret if it is an earlier one. Publishable keys are public by design, so
 * they are ignored. A key that has expired is revoked, too: it would work again as soon as an administrator sets a later end. So is the
 * last administrator's key: a person who has its secret could do more harm than that.
 */
export async function endLeaked(
  db: Queries & Writer,
  keys: readonly string[],
  reporting: Reporting,
): Promise<LeakReceipt> {
  const hashes = await hashesIn(keys);
  for (let i = 0; i < hashes.length; i += AT_ONCE) {
    if (i > 0) await nextTurn();
    const known = await selectKnownHashes(db, hashes.slice(i, i + AT_ONCE));
    await Promise.all(known.map(hash => db.write(tx => endSecret(tx, hash, reporting))));
  }
  return { wellFormed: hashes.length };
}

/** Returns the hashes of the different secrets. The checksum shows which texts need one. */
async function hashesIn(keys: readonly string[]): Promise<Buffer[]> {
  const slices = new Slices(SLICE);
  const hashes: Buffer[] = [];
  for (const key of new Set(keys)) {
    if (isSecretKey(key)) hashes.push(hashOf(key));
    await slices.next();
  }
  return hashes;
}

async function endSecret(tx: Transaction, hash: Uint8Array, reporting: Reporting): Promise<void> {
  const { now, onlyReports, foundIn } = reporting;
  const [, row] = await Promise.all([lockApiKeys(tx), selectApiKeyByHash(tx, hash)]);
  if (!row || row.revoked_at !== null || (row.secret_expires_at ?? Infinity) <= now) return;
  if (onlyReports) {
    if (isRecent(row.leak_reported_at, now)) return;
    await updateLeakReported(tx, row.id, now);
    await report(tx, row, 'nothing', reporting);
    return;
  }
  // Not before: a client without a key can report a secret that has ended as often as it likes.
  tx.notify(KEYS_CHANGED);
  if (row.secret_expires_at !== null) {
    await expireSecret(tx, hash, now);
    await report(tx, row, 'earlierSecret', reporting);
  } else {
    await report(tx, row, 'key', reporting);
    const reason = foundIn === null ? 'Reported as leaked' : `Reported as leaked: ${foundIn}`;
    await revokeLeaked(tx, row, reporting, reason);
  }
}

/** Appends the event, and sends it to the webhooks of the key. */
async function report(
  tx: Transaction,
  { id, name }: KeyBySecretRow,
  ended: LeakOutcome,
  { address, foundIn, now, source }: Reporting,
): Promise<void> {
  const leak = { keyId: id, name, ended, address, source: foundIn };
  const event = await keyLeakEvents.appendNumbered(tx, 'key.leaked', id, leak);
  await sendToWebhooksOf(tx, id, event, { isLast: ended === 'key', now, source });
}

/** Whether a key was reported within a day. A time from a clock that ran ahead does not count. */
function isRecent(reportedAt: number | null, now: number): boolean {
  return reportedAt !== null && now - reportedAt < REPORTED_EVERY && reportedAt <= latestCredible(now);
}
