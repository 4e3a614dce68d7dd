import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a file that only its owner can read, whole or not at all, and on disk when this returns. */
export function writeSecretFile(path: string, text: string): void {
  const unfinished = `${path}.unfinished`;
  const file = openSync(unfinished, 'w', 0o600);
  writeSync(file, text);
  fsyncSync(file);
  closeSync(file);
  renameSync(unfinished, path);
  const directory = openSync(dirname(path), 'r');
  fsyncSync(directory);
  closeSync(directory);
}
