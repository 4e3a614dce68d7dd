import { existsSync, realpathSync } from 'node:fs';
import { KeyRing } from '../access/api-keys/key-ring.ts';
import { readConfig } from '../config.ts';
import { checkStore } from '../db/check-store.ts';
import { continueEmbedded } from '../db/event-ranges.ts';
import { createPrivately } from '../db/private-files.ts';
import { replaceStore } from '../db/replace-store.ts';
import { copySnapshot, discardCopy } from '../db/snapshot.ts';
import { isCorrupt, isOutage, isSystemError } from '../db/sqlite-errors.ts';
import { adminKeyPath, asideSuffix, storePath } from '../db/store-directory.ts';
import { lockStore } from '../db/store-lock.ts';
import { newAdministratorKey, validKeyIn } from './admin-key.ts';
import { argumentsOf } from './arguments.ts';
import { contentOf, existing, rejectDamage } from './check.ts';
import { afterOption, continuationOf, numberAfter } from './continue-log.ts';
import { embeddedDirectory } from './embedded-store.ts';
import { CommandFailed, UsageError } from './failure.ts';
import { interruptible } from './interruptible.ts';
import { withLockedStore } from './store.ts';

/**
 * `restore FILE`: replaces the embedded store with a backup, and keeps the old store under another name. The event log continues in
 * a range of numbers that neither store has used.
 */
export async function restore(args: string[]): Promise<void> {
  const { positionals, values } = argumentsOf(args, afterOption, { allowPositionals: true });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) {
    throw new UsageError('Name the backup to restore: restore ./petstore-backup.db');
  }
  const after = numberAfter(values.after);
  const directory = embeddedDirectory('restore');
  const source = existing(file);
  rejectStoreItself(source, directory);
  lockStore(directory, 'restore', { alone: true });
  const { kept, content, restoration, isCompared } = await interruptible(signal =>
    replaceBy(source, directory, after, signal),
  );
  process.stdout.write(`${directory} now contains the shop of ${source}: ${content}\n`);
  if (kept !== undefined) process.stdout.write(`The previous store is kept as ${kept}\n`);
  process.stdout.write(continuationOf(restoration));
  if (!isCompared && values.after === undefined) {
    process.stdout.write(
      'The numbers of the previous store are not known: if clients have seen an event above ' +
        `${restoration.first - 1}, restore the backup again with --after and its number\n`,
    );
  }
  await reportKeyValidity(directory);
}

/** Copies the backup into the directory and checks it there, so that it can replace the store in one step. */
async function replaceBy(source: string, directory: string, after: number, signal: AbortSignal) {
  const copy = `${storePath(directory)}.restoring`;
  try {
    // Delete the copy of a restore that was killed: this process has the lock.
    discardCopy(copy);
    createPrivately(copy);
    await copySnapshot(source, copy, signal);
    const checked = await checkStore(copy, { signal, shownAs: source });
    rejectDamage(source, checked);
    signal.throwIfAborted();
    const now = Date.now();
    const { kept, completed } = replaceStore(directory, copy, {
      suffix: asideSuffix('restore', now),
      complete: lastId => ({
        isCompared: lastId !== undefined,
        restoration: continueEmbedded(copy, { after: Math.max(after, lastId ?? 0), now }),
      }),
    });
    return { kept, content: contentOf(checked), ...completed };
  } catch (error) {
    discardCopy(copy);
    if (!isOutage(error) && !isSystemError(error)) throw error;
    const remedy = isCorrupt(error) ? '. It is damaged: use another backup' : '';
    throw new CommandFailed(`${source} cannot be restored to ${directory}: ${error.message}${remedy}`, {
      cause: error,
    });
  }
}

function rejectStoreItself(source: string, directory: string): void {
  const path = storePath(directory);
  if (!existsSync(path) || realpathSync(source) !== realpathSync(path)) return;
  throw new UsageError(`${source} is the store itself: name a backup of it`);
}

/** Reports whether admin.key is valid in the restored store. Opening the store also migrates its schema. */
async function reportKeyValidity(directory: string): Promise<void> {
  const keyFile = adminKeyPath(directory);
  const { banRules } = readConfig(process.env);
  let problem = existsSync(keyFile)
    ? `The key in ${keyFile} is not valid in this store`
    : `There is no ${keyFile}`;
  try {
    if (await withLockedStore(db => validKeyIn(keyFile, new KeyRing(db, banRules), Date.now()))) {
      process.stdout.write(`The key in ${keyFile} is valid in this store\n`);
      return;
    }
  } catch (error) {
    // The store has been replaced: that this user cannot read the key is no failure of the restore.
    if (!isSystemError(error)) throw error;
    problem = `The key in ${keyFile} cannot be read (${error.message})`;
  }
  process.stdout.write(
    `${problem}: use a key from the time of the backup, or create one with\n  ${newAdministratorKey(directory)}\n`,
  );
}
