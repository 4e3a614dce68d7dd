import { existsSync, readFileSync } from 'node:fs';
import type { KeyRing } from '../access/api-keys/key-ring.ts';
import { commandLine } from '../kit/program.ts';

/** The command that creates another administrator's key. `data` is the directory of the store. */
export function newAdministratorKey(data: string): string {
  return commandLine(
    data,
    'keys create --name Administrator --scope admin --plan enterprise --per-minute 1000000 --per-day 1000000000',
  );
}

/** Whether the file exists and contains a valid key of the store. */
export async function validKeyIn(keyFile: string, keyRing: KeyRing, now: number): Promise<boolean> {
  if (!existsSync(keyFile)) return false;
  return (await keyRing.find(readFileSync(keyFile, 'utf8').trim(), now)) !== undefined;
}
