import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { it } from 'node:test';
import { temporaryDirectory } from '../../test/support/embedded-store.ts';
import { backup } from './backup.ts';
import { check } from './check.ts';
import { continueLog } from './continue-log.ts';
import { UsageError } from './failure.ts';
import { keys } from './keys.ts';
import { migrateStore } from './migrate-store.ts';
import { newStore } from './new-store.ts';
import { restore } from './restore.ts';
import { seed } from './seed.ts';
import { signInLink } from './sign-in-link.ts';
import { migrate } from './store.ts';

it('a command for one file rejects several files, and none if it needs one, with an example', async () => {
  const ofBackup = 'Name the file to write, which must not exist: backup ./petstore-backup.db';
  const ofRestore = 'Name the backup to restore: restore ./petstore-backup.db';
  const ofCheck = 'Name at most one file: check ./petstore-backup.db';
  const two = ['a.db', 'b.db'];
  await assert.rejects(backup([]), new UsageError(ofBackup));
  await assert.rejects(backup(two), new UsageError(ofBackup));
  await assert.rejects(restore([]), new UsageError(ofRestore));
  await assert.rejects(restore(two), new UsageError(ofRestore));
  await assert.rejects(check(two), new UsageError(ofCheck));
});

it('a command rejects an option that it does not have, before it reads or creates a store', async t => {
  const directory = temporaryDirectory(t);
  const { env } = process;
  t.after(() => {
    process.env = env;
  });
  process.env = { PETSTORE_DATA: directory };
  const commands = { backup, check, continueLog, migrate, migrateStore, newStore, restore, seed, signInLink };
  for (const [name, command] of Object.entries({
    ...commands,
    keysList: (args: string[]) => keys(['list', ...args]),
  }))
    await assert.rejects(
      command(['--colour']),
      new UsageError('There is no option --colour: --help lists all arguments'),
      name,
    );
  assert.deepEqual(readdirSync(directory), []);
});
