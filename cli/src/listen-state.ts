import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Connection } from './connection.ts';
import { newSecret } from './delivery.ts';
import { readPrivateFile, replacePrivateFile } from './private-file.ts';

/** What `petstore listen` stores for its next run. */
export interface ListenState {
  /** Signs the deliveries of a profile. */
  readonly secret: string;
  /** The file that contains the secret. */
  readonly secretFile: string;
  /** The last event that a URL has accepted, or a later position; `undefined` in the first run. */
  readonly cursor: string | undefined;
  /** Stores the position. A process that is killed afterwards continues after it. */
  save: (cursor: string) => void;
}

/** Reads the state of a profile and a URL, and creates the secret of the profile if it has none. */
export function openListenState(
  configDirectory: string,
  { url, profile }: Connection,
  forwardTo: string,
): ListenState {
  const owner = { profile, url };
  const directory = join(configDirectory, 'listen');
  const secretFile = join(directory, nameOf(owner));
  const cursorFile = join(directory, nameOf({ ...owner, forwardTo }));
  let { secret } = read(secretFile);
  if (secret === undefined) {
    secret = newSecret();
    replacePrivateFile(secretFile, textOf({ ...owner, secret }));
  }
  let { cursor } = read(cursorFile);
  return {
    secret,
    secretFile,
    cursor,
    save: next => {
      if (next === cursor) return;
      cursor = next;
      replacePrivateFile(cursorFile, textOf({ ...owner, forwardTo, cursor }));
    },
  };
}

const textOf = (values: object) => `${JSON.stringify(values, null, 2)}\n`;

/** A log belongs to a service, so the name of the file depends on its URL as well. */
function nameOf(owner: object): string {
  const hash = createHash('sha256').update(JSON.stringify(owner)).digest('hex');
  return `${hash.slice(0, 16)}.json`;
}

function read(file: string): { secret?: string; cursor?: string } {
  const text = readPrivateFile(file, 'a secret');
  try {
    return text === undefined ? {} : JSON.parse(text);
  } catch (cause) {
    throw new Error(`${file} is not valid JSON: delete it, and run the command again`, { cause });
  }
}
