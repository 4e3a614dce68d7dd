import { existsSync, readFileSync } from 'node:fs';
import type { KeyRing } from '../access/api-keys/key-ring.ts';

/** The command that makes another administrator's key. */
export const newAdministratorKey =
  'node_modules/.bin/node service/src/main.ts keys create --name Administrator --scope admin ' +
  '--plan enterprise --per-minute 1000000 --per-day 1000000000';

/** Whether the file holds a key that the store knows: it may have been revoked, or be missing. */
export async function validKeyIn(keyFile: string, keyRing: KeyRing, now: number): Promise<boolean> {
  if (!existsSync(keyFile)) return false;
  return (await keyRing.find(readFileSync(keyFile, 'utf8').trim(), now)) !== undefined;
}
