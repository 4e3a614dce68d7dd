import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { readConfig } from '../config.ts';
import { type CheckedStore, checkStore, isOfHistory } from '../db/check-store.ts';
import { storePath } from '../db/store-directory.ts';
import { shareStore } from '../db/store-lock.ts';
import type { Checkpoint } from '../db/verify-seals.ts';
import { asError, codeOf } from '../kit/thrown.ts';
import { withoutPassword } from '../kit/urls.ts';
import { argumentsOf } from './arguments.ts';
import { embeddedDirectory, rejectNoStore } from './embedded-store.ts';
import { CommandFailed, UsageError } from './failure.ts';

/**
 * `check [FILE] [--checkpoint ID:SEAL]…`: checks the store or a backup of the embedded store, and changes nothing. With DATABASE_URL it
 * checks the seals of the event log on PostgreSQL, which checks damage and rules itself.
 */
export async function check(args: string[]): Promise<void> {
  const { positionals, values } = argumentsOf(
    args,
    { checkpoint: { type: 'string', multiple: true } },
    { allowPositionals: true },
  );
  const [file, ...more] = positionals;
  if (more.length > 0) throw new UsageError('Name at most one file: check ./petstore-backup.db');
  const checkpoints = (values.checkpoint ?? []).map(toCheckpoint);
  const { databaseUrl } = readConfig(process.env);
  if (file === undefined && databaseUrl !== undefined) {
    const name = withoutPassword(databaseUrl);
    const { verifyPostgres } = await import('../db/check-postgres.ts');
    const faults = await verifyPostgres(databaseUrl, checkpoints);
    if (faults.length > 0) throw rewritten(name, faults);
    reportHistory(name, checkpoints);
    return;
  }
  const path = file === undefined ? ownStore() : existing(file);
  const checking = () => checkStore(path, { checkpoints });
  const checked = await (file === undefined ? shareStore(dirname(path), checking) : checking());
  rejectViolations(path, checked);
  process.stdout.write(`${path} is intact: ${contentOf(checked)}\n`);
  reportHistory(path, checkpoints);
}

function reportHistory(name: string, checkpoints: readonly Checkpoint[]): void {
  const [first, ...others] = checkpoints.map(({ id }) => id);
  const noted =
    first === undefined
      ? ''
      : `, and has ${others.length === 0 ? `the checkpoint ${first}` : `the checkpoints ${[first, ...others].join(', ')}`}`;
  process.stdout.write(`The history in ${name} is as it was written${noted}\n`);
}

/** Reads `ID:SEAL`. Throws UsageError. */
function toCheckpoint(text: string): Checkpoint {
  const [, id, seal] = /^(\d{1,16}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (id !== undefined && seal !== undefined) return { id: Number(id), seal };
  throw new UsageError(
    `--checkpoint must be the number of an event, a colon and a seal of 64 hexadecimal digits, but was ${JSON.stringify(text)}`,
  );
}

/** The same for a backup and its restore, which a rewritten history must not prevent: that is only reported. */
export function rejectDamage(path: string, checked: CheckedStore): void {
  const [damage, history] = [
    checked.violations.filter(line => !isOfHistory(line)),
    checked.violations.filter(isOfHistory),
  ];
  rejectViolations(path, { ...checked, violations: damage });
  if (history.length > 0) process.stderr.write(`Warning: ${rewritten(path, history).message}\n`);
}

function rewritten(name: string, faults: readonly string[]): CommandFailed {
  return new CommandFailed(
    `The history in ${name} was changed after it was written:\n${faults.map(line => `  ${line}`).join('\n')}`,
  );
}

/** Returns the absolute path of a file. Throws UsageError when it does not exist, or this user may not read it. */
export function existing(file: string): string {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw new UsageError(`There is no file ${file}`);
    throw new UsageError(`${file} cannot be read: ${asError(error).message}`);
  }
  if (!statSync(file).isFile()) throw new UsageError(`${file} is not a file: name a backup`);
  return resolve(file);
}

function rejectViolations(path: string, { violations }: CheckedStore): void {
  if (violations.length === 0) return;
  if (violations.every(isOfHistory)) throw rewritten(path, violations);
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
