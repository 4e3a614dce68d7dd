import { DAY } from '../../kit/clock.ts';
import { formatDateTime } from '../../kit/dates.ts';
import type { NewApiKey } from './api-key.ts';
import { anyAdministratorKey, lockApiKeys } from './api-key-queries.ts';
import { create, type KeyAccess } from './api-keys.ts';
import { isTicket, redeemTicket } from './sign-in-ticket.ts';

/** The settings of the keys that the service itself creates. */
const administrator: NewApiKey = {
  name: 'Administrator',
  plan: 'enterprise',
  scopes: ['admin'],
  quotas: { perMinute: 1_000_000, perDay: 1_000_000_000 },
};

/**
 * Creates the first administrator's key when the store has none, nor a revoked one. Calls `save` with the secret before the commit: a crash
 * between the two leaves a saved secret without a key, never a key with an unknown secret. Resolves with whether it created one.
 */
export async function createFirstKey(access: KeyAccess, save: (secret: string) => void): Promise<boolean> {
  // Writes nothing when it exists: the database may be read-only at the moment.
  if (await anyAdministratorKey(access.db)) return false;
  return access.db.write(async tx => {
    const [, hasKey] = await Promise.all([lockApiKeys(tx), anyAdministratorKey(tx)]);
    if (hasKey) return false;
    const { key } = await create({ ...access, db: tx }, administrator);
    save(key);
    return true;
  });
}

/** How long the key of a link is valid, in milliseconds. */
const CONSOLE_KEY_LIFETIME = 30 * DAY;

/**
 * Exchanges the ticket of a link for the secret of a new key, which ends by itself and can be revoked without the first key.
 * Resolves with `undefined` if the ticket is not valid.
 */
export async function signIn(access: KeyAccess, ticket: string): Promise<string | undefined> {
  if (!isTicket(ticket)) return undefined;
  return access.db.write(async tx => {
    if (!(await redeemTicket(tx, ticket, access.now))) return undefined;
    const expiresAt = formatDateTime(access.now + CONSOLE_KEY_LIFETIME);
    const key = { ...administrator, name: 'Console on the first machine', expiresAt };
    return (await create({ ...access, db: tx }, key, 'A link signed a browser in to the console')).key;
  });
}
