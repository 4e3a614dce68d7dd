import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { flushToDisk } from './durable.ts';

/** Writes a file atomically and durably that only its owner can read. Creates its directory. */
export function writeSecretFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = `${path}.unfinished`;
  const file = openSync(unfinished, 'w', 0o600);
  writeSync(file, text);
  fsyncSync(file);
  closeSync(file);
  renameSync(unfinished, path);
  flushToDisk(dirname(path));
}

/**
 * Reads a secret of one line, without the line break at its end. Throws an Error whose message describes the problem and
 * contains nothing of the file.
 */
export function readSecretFile(path: string): string {
  const secret = readFileSync(path, 'utf8').trim();
  if (secret === '') throw new Error('the file is empty');
  if (secret.includes('\n')) throw new Error('the file has more than one line');
  return secret;
}
