import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type CheckedStore, checkStore } from '../db/check-store.ts';
import { storePath } from '../db/store-directory.ts';
import { argumentsOf } from './arguments.ts';
import { embeddedDirectory, rejectNoStore } from './embedded-store.ts';
import { CommandFailed, UsageError } from './failure.ts';

/** `check [FILE]`: checks the embedded store or a backup for damage, and changes nothing. */
export async function check(args: string[]): Promise<void> {
  const { positionals } = argumentsOf(args, {}, { allowPositionals: true });
  if (positionals.length > 1) throw new UsageError('Name at most one file: check ./petstore-backup.db');
  const path = positionals[0] === undefined ? ownStore() : existing(positionals[0]);
  const checked = await checkStore(path);
  rejectViolations(path, checked);
  process.stdout.write(`${path} is intact: ${contentOf(checked)}\n`);
}

/** Returns the absolute path of a file. Throws UsageError when it does not exist. */
export function existing(file: string): string {
  if (existsSync(file)) return resolve(file);
  throw new UsageError(`There is no file ${file}`);
}

export function rejectViolations(path: string, { violations }: CheckedStore): void {
  if (violations.length === 0) return;
  throw new CommandFailed(
    `${path} is damaged:\n${violations.map(line => `  ${line}`).join('\n')}\n` +
      'Restore a backup that passes check, and keep this file: it may contain changes that are newer than the backup',
  );
}

export function contentOf(checked: CheckedStore): string {
  const { categories, pets, orders, keys, events, schemaVersion, newestVersion } = checked;
  const schema =
    schemaVersion === newestVersion
      ? `schema version ${schemaVersion}`
      : `schema version ${schemaVersion}, which the next start migrates to ${newestVersion}`;
  return `categories ${categories}, pets ${pets}, orders ${orders}, API keys ${keys}, events ${events}; ${schema}`;
}

function ownStore(): string {
  const directory = embeddedDirectory('check without a file');
  rejectNoStore(directory);
  return storePath(directory);
}
