import { type KeyReading, read, usage } from '../api-keys/api-keys.ts';
import { newestOf } from '../plan-requests/plan-requests.ts';
import type { Account } from './account.ts';

/** Resolves with the key, its usage and its newest plan request, as its holder can read them. */
export async function account(access: KeyReading, keyId: number): Promise<Account> {
  const { name, kind, plan, scopes, expiresAt, ban } = await read(access, keyId);
  const { windows, days, warnings } = await usage(access, keyId);
  const planRequest = await newestOf(access.db, keyId);
  return { keyId, name, kind, plan, scopes, expiresAt, ban, windows, days, warnings, planRequest };
}
