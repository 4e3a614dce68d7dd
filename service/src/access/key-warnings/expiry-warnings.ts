import type { Queries, Writer } from '../../db/database.ts';
import * as eventLog from '../../events/event-log/event-log.ts';
import { subjectOf } from '../../events/event-log/event-types.ts';
import { DAY } from '../../kit/clock.ts';
import { formatDateTime } from '../../kit/dates.ts';
import type { ApiKeyRow } from '../api-keys/api-key-queries.ts';
import {
  dueExpiryWarning,
  EXPIRY_DAYS,
  type ExpiryWarning,
  type KeyExpiry,
  keyExpiryEvents,
  nextExpiryWarning,
} from './expiry-warning.ts';
import { selectExpiring, updateExpiryWarnings } from './warning-queries.ts';

/** Keys that are warned in one transaction. */
const WARNED_AT_ONCE = 100;

/**
 * Appends the events of a slice of the keys that expire soon. The lock lets one replica at a time do this, so each warning is given
 * once. It also keeps replicas from storing counts meanwhile: the two transactions would lock the same rows in different orders, which can
 * deadlock. A key whose earlier warnings were missed, because no process ran, gets only the nearest one. Resolves with whether there may
 * be more.
 */
export function warnOfExpiry(db: Writer, now: number): Promise<boolean> {
  return db.write(async tx => {
    await tx.lock('key limits');
    const rows = await selectExpiring(tx, now, WARNED_AT_ONCE);
    if (rows.length === 0) return false;
    for (const { id, name, expires_at, revoked_at } of rows) {
      const days = expires_at === null || revoked_at !== null ? undefined : dueExpiryWarning(expires_at, now);
      if (days === undefined) continue;
      const data = { keyId: id, name, days, expiresAt: formatDateTime(expires_at!) };
      keyExpiryEvents.append(tx, 'key.expiring', id, data);
    }
    await updateExpiryWarnings(
      tx,
      rows.map(({ id, expires_at }) => ({ id, expiry_warning_at: nextExpiryWarning(expires_at, now) })),
    );
    return rows.length === WARNED_AT_ONCE;
  });
}

/** Returns the warnings about the present end of a key that the log has, the earliest first. */
export async function expiryWarningsOf(
  db: Queries,
  { id, expires_at }: Pick<ApiKeyRow, 'id' | 'expires_at'>,
): Promise<ExpiryWarning[]> {
  if (expires_at === null) return [];
  const filter = { types: new Set(keyExpiryEvents.types), subject: subjectOf('key.expiring', id) };
  const { events } = await eventLog.readBackwards(db, filter, { limit: EXPIRY_DAYS.length });
  const expiresAt = formatDateTime(expires_at);
  return events
    .map(({ data }) => JSON.parse(data) as KeyExpiry)
    .filter(warning => warning.expiresAt === expiresAt)
    .map(({ days }) => ({ days, passedAt: formatDateTime(expires_at - days * DAY) }))
    .reverse();
}
