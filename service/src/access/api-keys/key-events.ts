import type { Transaction } from '../../db/database.ts';
import { EventKind } from '../../events/event-log/event-kind.ts';
import { Ban } from '../rate-limits/key-usage.ts';
import { ApiKey } from './api-key.ts';
import { selectNames } from './api-key-queries.ts';

export const keyEvents = new EventKind({
  title: 'KeyEvent',
  types: ['key.created', 'key.updated', 'key.rotated', 'key.revoked', 'key.unbanned', 'key.limits_reset'],
  data: ApiKey,
});

export const keyBanEvents = new EventKind({ title: 'KeyBannedEvent', types: ['key.banned'], data: Ban });

/** Appends the event of a ban. Its data has no name, so the event states the one of the key. */
export async function appendBan(tx: Transaction, keyId: number, ban: Ban): Promise<void> {
  const names = await selectNames(tx, [keyId]);
  keyBanEvents.append(tx, 'key.banned', keyId, ban, { name: names.get(keyId) });
}
