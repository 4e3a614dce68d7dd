import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/**
 * Writes a file of the project that a script generates. With the argument `--check` it compares instead, and the process fails with
 * the command that writes the file.
 */
export function writeOrCheck(file: string, text: string, command: string): void {
  const path = join(root, file);
  if (!process.argv.includes('--check')) writeFileSync(path, text);
  else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    process.stderr.write(`${file} is out of date: run ${command}\n`);
    process.exitCode = 1;
  }
}
