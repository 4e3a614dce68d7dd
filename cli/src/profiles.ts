import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import envPaths from 'env-paths';
import { LoginError } from './failure.ts';

export interface Profile {
  url: string;
  apiKey: string;
}

export interface Profiles {
  /** The profile of commands without `--profile`. */
  current: string | undefined;
  profiles: Record<string, Profile>;
}

/** The user's configuration directory: that of XDG_CONFIG_HOME on Linux, and of the platform elsewhere. */
export const profilesFile = (): string => join(envPaths('petstore', { suffix: '' }).config, 'profiles.json');

/** Reads the profiles; none if the file is missing. Throws a `LoginError` if other users can read or change the file. */
export function readProfiles(file = profilesFile()): Profiles {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return { current: undefined, profiles: {} };
  // Windows has no such modes: the directory of a user is private there.
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0)
    throw new LoginError(
      `${file} contains API keys, but other users may access it. Run \`chmod 600 ${file}\`; if they may have read it, rotate the keys`,
    );
  return parse(readFileSync(file, 'utf8'), file);
}

/** Replaces the file in one step, so that a crash or another process never leaves half of it. */
export function writeProfiles(profiles: Profiles, file = profilesFile()): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}`;
  try {
    writeFileSync(draft, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true });
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

function parse(text: string, file: string): Profiles {
  try {
    const { current, profiles } = JSON.parse(text);
    return { current, profiles: { ...profiles } };
  } catch (cause) {
    throw new LoginError(`${file} is not valid JSON: delete it, and run \`petstore login\` again`, { cause });
  }
}
