import { existsSync, renameSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { checkStore } from '../db/check-store.ts';
import { createPrivately } from '../db/private-files.ts';
import { copySnapshot, discardCopy } from '../db/snapshot.ts';
import { isDamage, isOutage, isSystemError } from '../db/sqlite-errors.ts';
import { storePath } from '../db/store-directory.ts';
import { shareStore } from '../db/store-lock.ts';
import { SECOND } from '../kit/clock.ts';
import { flushToDisk } from '../kit/durable.ts';
import { argumentsOf } from './arguments.ts';
import { contentOf, rejectDamage } from './check.ts';
import { embeddedDirectory, rejectNoStore } from './embedded-store.ts';
import { CommandFailed, UsageError } from './failure.ts';
import { interruptible } from './interruptible.ts';

/** `backup FILE`: writes a snapshot of the embedded store into one file, while the service may run. */
export async function backup(args: string[]): Promise<void> {
  const { positionals } = argumentsOf(args, {}, { allowPositionals: true });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) {
    throw new UsageError('Name the file to write, which must not exist: backup ./petstore-backup.db');
  }
  const target = resolve(file);
  const directory = embeddedDirectory('backup');
  rejectNoStore(directory);
  rejectExisting(target);
  if (!existsSync(dirname(target)))
    throw new UsageError(
      `There is no directory ${dirname(target)}: create it, or write the backup to another one`,
    );
  const began = performance.now();
  const content = await interruptible(signal =>
    shareStore(directory, () => writeCopy(storePath(directory), target, signal)),
  );
  const { size } = statSync(target);
  const seconds = ((performance.now() - began) / SECOND).toFixed(1);
  process.stdout.write(`${target} is a backup of ${directory}, ${size} bytes, in ${seconds} s: ${content}\n`);
}

/** Renames the copy to its final name when it is complete, passes the check and is on disk; otherwise deletes it. */
async function writeCopy(source: string, target: string, signal: AbortSignal): Promise<string> {
  const unfinished = `${target}.unfinished`;
  let isOurs = false;
  try {
    isOurs = createPrivately(unfinished);
    if (!isOurs) {
      throw new UsageError(
        `${unfinished} exists: another backup is writing it, or was killed; delete it if none is running`,
      );
    }
    await copySnapshot(source, unfinished, signal);
    const checked = await checkStore(unfinished, { signal });
    rejectDamage(source, checked);
    signal.throwIfAborted();
    rejectExisting(target);
    renameSync(unfinished, target);
    flushToDisk(dirname(target));
    return contentOf(checked);
  } catch (error) {
    if (isOurs) discardCopy(unfinished);
    if (!isOutage(error) && !isSystemError(error)) throw error;
    const deleted = isOurs ? '. The incomplete file was deleted' : '';
    const problem = isDamage(error)
      ? `The store ${source} is damaged (${error.message}): restore an earlier backup that passes \`check\``
      : `The backup ${target} cannot be written: ${error.message}`;
    throw new CommandFailed(`${problem}${deleted}`, { cause: error });
  }
}

function rejectExisting(target: string): void {
  if (existsSync(target))
    throw new UsageError(`${target} already exists, and a backup does not replace files: name another file`);
}
