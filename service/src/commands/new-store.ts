import { existsSync, linkSync } from 'node:fs';
import { continueEmbedded } from '../db/event-ranges.ts';
import { createPrivately } from '../db/private-files.ts';
import { replaceStore } from '../db/replace-store.ts';
import { discardCopy } from '../db/snapshot.ts';
import { cannotBeOpened } from '../db/sqlite-errors.ts';
import { adminKeyPath, asideSuffix, hasStore, storePath } from '../db/store-directory.ts';
import { lockStore } from '../db/store-lock.ts';
import { serviceEvents } from '../events/event-log/service-events.ts';
import { argumentsOf } from './arguments.ts';
import { afterOption, continuationOf, numberAfter } from './continue-log.ts';
import { embeddedDirectory } from './embedded-store.ts';
import { UsageError } from './failure.ts';

/**
 * `new-store`: creates an empty store in a directory whose store is lost. Remaining files are renamed, not deleted. The event log
 * starts in a new range, because clients have seen the numbers of the lost store.
 */
export async function newStore(args: string[]): Promise<void> {
  const { values } = argumentsOf(args, afterOption);
  const after = numberAfter(values.after);
  const directory = embeddedDirectory('new-store');
  lockStore(directory, 'new-store', { alone: true });
  if (hasStore(directory)) {
    throw new UsageError(
      `There is a store in ${directory}: set PETSTORE_DATA to another directory, or move ${storePath(directory)} to another place`,
    );
  }
  const now = Date.now();
  const suffix = asideSuffix('new-store', now);
  const keyFile = adminKeyPath(directory);
  const created = `${storePath(directory)}.creating`;
  try {
    // Delete the file of a command that was killed: this process has the lock.
    discardCopy(created);
    createPrivately(created);
    const next = serviceEvents.newEvent('service.store_created', 0, { command: 'new-store' });
    const restoration = continueEmbedded(created, { after, now, next });
    // Its first name remains until the next start replaces it: without it, the service would start an empty shop if this fails.
    if (existsSync(keyFile)) linkSync(keyFile, `${keyFile}${suffix}`);
    replaceStore(directory, created, { suffix, complete: () => {} });
    process.stdout.write(
      `There is an empty store in ${directory}: the next start creates its administrator's key\n${continuationOf(restoration)}`,
    );
  } catch (error) {
    discardCopy(created);
    throw cannotBeOpened(directory, error);
  }
}
