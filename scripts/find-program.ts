import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Returns the paths of all programs with these names on `PATH`, in the order of the names. */
export function findPrograms(names: readonly string[], PATH = process.env.PATH ?? ''): string[] {
  const directories = PATH.split(delimiter).filter(directory => directory !== '');
  return names.flatMap(name => directories.map(directory => join(directory, name))).filter(isExecutable);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
