// What the builds share. Runs on Node.js 20 or newer.
import { existsSync, lstatSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Whether a file is missing, or older than one of its sources, which are files and directories. */
export function isOutdated(result, sources) {
  const builtAt = statSync(result, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return builtAt < Math.max(...sources.flatMap(pathsAt).map(changedAt));
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
  return pathsAt(path).filter(path => lstatSync(path).isFile());
}

/** Returns a file, or a directory and everything below it. A directory changes when a file in it is deleted. */
function pathsAt(path) {
  const names = statSync(path).isDirectory() ? readdirSync(path, { recursive: true }) : [];
  return [path, ...names.map(name => join(path, name))];
}

/** Returns when a file got its content or its name. A file of an archive keeps an earlier time of modification. */
function changedAt(path) {
  // An editor may mark a file that it changes with a link that leads nowhere.
  return lstatSync(path).ctimeMs;
}
