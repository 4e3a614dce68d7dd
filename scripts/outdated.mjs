// What the builds share. Runs on Node.js 20 or newer.
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Whether a file is missing, or older than one of its sources, which are files and directories. */
export function isOutdated(result, sources) {
  const builtAt = statSync(result, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return builtAt < Math.max(...sources.flatMap(filesAt).map(changedAt));
}

/** Moves a directory to the place of another one, which a service or another build may read at the same time. */
export function replace(result, unfinished) {
  const old = `${unfinished}.old`;
  if (existsSync(result)) renameSync(result, old);
  renameSync(unfinished, result);
  rmSync(old, { recursive: true, force: true });
}

/** Returns a file, or all files below a directory. */
export function filesAt(path) {
  if (!statSync(path).isDirectory()) return [path];
  const entries = readdirSync(path, { withFileTypes: true, recursive: true });
  return entries.filter(entry => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

/** Returns when a file got its content or its name. A file of an archive keeps an earlier time of modification. */
function changedAt(file) {
  return statSync(file).ctimeMs;
}
