import assert from 'node:assert/strict';
import { it } from 'node:test';
import { backup } from './backup.ts';
import { check } from './check.ts';
import { UsageError } from './failure.ts';
import { restore } from './restore.ts';

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
