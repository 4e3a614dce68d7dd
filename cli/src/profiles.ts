import { join } from 'node:path';
import envPaths from 'env-paths';
import { LoginError } from './failure.ts';
import { readPrivateFile, replacePrivateFile } from './private-file.ts';

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
export const configDirectory = (): string => envPaths('petstore', { suffix: '' }).config;

export const profilesFile = (directory: string): string => join(directory, 'profiles.json');

/** Reads the profiles; none if the file is missing. Throws a `LoginError` if other users can read or change the file. */
export function readProfiles(directory: string): Profiles {
  const file = profilesFile(directory);
  const text = readPrivateFile(file, 'API keys');
  return text === undefined ? { current: undefined, profiles: {} } : parse(text, file);
}

export function writeProfiles(directory: string, profiles: Profiles): void {
  replacePrivateFile(profilesFile(directory), `${JSON.stringify(profiles, null, 2)}\n`);
}

function parse(text: string, file: string): Profiles {
  try {
    const { current, profiles } = JSON.parse(text);
    return { current, profiles: { ...profiles } };
  } catch (cause) {
    throw new LoginError(`${file} is not valid JSON: delete it, and run \`petstore login\` again`, { cause });
  }
}
