import { existsSync, renameSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { asideSuffix, setAside } from '../db/replace-store.ts';
import { adminKeyPath, hasStore, storePath } from '../db/store-directory.ts';
import { lockStore } from '../db/store-lock.ts';
import { embeddedDirectory } from './embedded-store.ts';
import { UsageError } from './failure.ts';
import { withStore } from './store.ts';

/** `new-store`: creates an empty store in a directory whose store is lost. Remaining files are renamed, not deleted. */
export async function newStore(args: string[]): Promise<void> {
  parseArgs({ args, options: {} });
  const directory = embeddedDirectory('new-store');
  lockStore(directory, 'new-store');
  if (hasStore(directory)) {
    throw new UsageError(
      `There is a store in ${directory}: set PETSTORE_DATA to another directory, or move ${storePath(directory)} to another place`,
    );
  }
  const suffix = asideSuffix('new-store', Date.now());
  const keyFile = adminKeyPath(directory);
  if (existsSync(keyFile)) renameSync(keyFile, `${keyFile}${suffix}`);
  setAside(directory, suffix);
  await withStore(async () => {});
  process.stdout.write(
    `There is an empty store in ${directory}: the next start creates its administrator's key\n`,
  );
}
